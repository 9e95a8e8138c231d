import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ModelCall,
  type ModelController,
  pngOf,
  SCRIPTED_USAGE,
  type ShownImage,
  type ToolController,
} from '@runwire/test-kit';
import { expectEqual, Shortfall } from './proof.ts';

const WORD_MS = 10;
const wait = () => sleep(WORD_MS);
/** Sent with every `long` message. */
export const IMAGE = pngOf(5000, 7);
const STILL_MS = 1000;
const FOUND = 'Found. ';
const TALK_WORDS = 500;
const PER_CALL = SCRIPTED_USAGE.inputTokens + SCRIPTED_USAGE.outputTokens;

/** What a message asks of the model: its first word. */
export type Kind = 'plain' | 'tool' | 'long' | 'talk';

export const kindOf = (message: string) => message.split(' ')[0] as Kind;

/** What the answer to a message must be: with its tool's output, and the place of the message in its chat. */
export function answerTo(message: string, turn: number): string {
  const kind = kindOf(message);
  const before = kind === 'tool' || kind === 'long' ? `Looking. ${FOUND}` : '';
  return `${before}To ${message}, as message ${turn}.`;
}

/** What a run of the message uses where no call was made twice. */
export const tokensOf = (message: string) => (['tool', 'long'].includes(kindOf(message)) ? 2 : 1) * PER_CALL;

/**
 * The model of all servers. Its answer depends on the prompt alone, so the history that a server of either version
 * shows it can be told from the answer. A `long` run is held in its first attempt, behind a finished tool, for as long
 * as its server lives; a `talk` goes on until somebody cancels it.
 */
export class UpgradeModel {
  readonly #model: ModelController;
  readonly #gate: ToolController;
  /** Throws where the run must not be in this attempt. */
  readonly #mayTry: (runId: string, attempt: number) => void;

  constructor(
    model: ModelController,
    gate: ToolController,
    mayTry: (runId: string, attempt: number) => void,
    onViolation: (error: unknown) => void,
  ) {
    this.#model = model;
    this.#gate = gate;
    this.#mayTry = mayTry;
    model.onCall = (call) => {
      this.#answer(call).catch(onViolation);
    };
    gate.onCall = ({ callId }) => gate.open(callId, FOUND);
  }

  get port(): number {
    return this.#model.port;
  }

  async #answer(call: ModelCall): Promise<void> {
    const { runId, attempt, prompt } = call.request;
    this.#mayTry(runId, attempt);
    const users = prompt.filter((item) => item.kind === 'user');
    const message = users.at(-1)?.text ?? '';
    const kind = kindOf(message);
    const last = prompt.at(-1);
    if (kind === 'long') checkImage(users.at(-1));
    if ((kind === 'tool' || kind === 'long') && last?.kind !== 'tool_output') {
      // Whoever asks for it again has forgotten a step that was finished before its tool was called.
      if (this.#gate.calls.some(({ callId }) => callId === `call-${runId}`)) {
        throw new Shortfall(`Calls of the model for the finished step 1 of ${runId}: expected 1, found 2.`);
      }
      await call.text('Looking. ');
      await call.toolCall(`call-${runId}`, 'gate', JSON.stringify({ port: this.#gate.port }));
      return call.end();
    }
    // A later attempt may be told that the outcome of the call is not known.
    if (last?.kind === 'tool_output' && attempt === 1) expectEqual('output of the tool', last.output, FOUND);
    const found = last?.kind === 'tool_output' ? FOUND : '';
    if (kind === 'long' && attempt === 1) {
      // It never falls silent: that would end the run.
      while (!call.isClosed) {
        await call.text('still ');
        await Promise.race([sleep(STILL_MS), call.closed]);
      }
      return;
    }
    for (let words = 0; kind === 'talk' && words < TALK_WORDS && !call.isClosed; words += 1) {
      await call.text('and ');
      await wait();
    }
    for (const word of `${found}To ${message}, as message ${users.length}.`.split(/(?<= )/)) {
      await call.text(word);
      await wait();
    }
    await call.end();
  }

  /** No attempt asks twice for one step, and no tool is called twice. */
  checkCalls(): { readonly modelCalls: number; readonly toolCalls: number } {
    const asked = new Set<string>();
    for (const { request } of this.#model.calls) {
      const step = `${request.runId} step ${request.step} attempt ${request.attempt}`;
      if (asked.has(step)) throw new Shortfall(`Calls of the model for ${step}: expected 1, found 2.`);
      asked.add(step);
    }
    const keys = new Set(this.#gate.calls.map(({ callId }) => callId));
    if (keys.size !== this.#gate.calls.length) {
      throw new Shortfall(`Calls of tools: expected ${keys.size}, one each, found ${this.#gate.calls.length}.`);
    }
    return { modelCalls: this.#model.calls.length, toolCalls: keys.size };
  }
}

/** As the server that asks has read it from the folder that all share. */
function checkImage(user: ModelCall['request']['prompt'][number] | undefined): void {
  // The version before calls them images.
  type Shown = { attachments?: readonly ShownImage[]; images?: readonly ShownImage[] } | undefined;
  const images = (user as Shown)?.attachments ?? (user as Shown)?.images ?? [];
  const shown = images.map(({ base64 }) => base64);
  expectEqual('images of a run that is held', shown, [IMAGE.toString('base64')]);
}
