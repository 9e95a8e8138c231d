import { randomUUID } from 'node:crypto';
import { type MessagesRequest, thinksByDefault } from '@runwire/models/src/testing/messages-rules.ts';
import { FakeProvider, type ProviderCall, providerEvents, type StreamScript, sseText } from '@runwire/test-kit';
import { MessagesServer, type ScriptedAnswer, type ScriptedBlock } from '@runwire/test-kit/messages-server.ts';

/** A whole run's steps. */
export const STEPS = 10;

/** How many blocks of thinking a step has. */
const toBlocks = (step: number) => 1 + Number(step % 3 === 0) + Number(step % 5 === 0);

/** How many blocks of thinking the last request sends back if all thinking since this step is sent back. */
export function sentBack(since = 1): number {
  let blocks = 0;
  for (let step = since; step < STEPS; step += 1) blocks += toBlocks(step);
  return blocks;
}

export const thinkingIn = (request: MessagesRequest | undefined) =>
  (request?.messages ?? []).flatMap(({ content }) => content.filter(({ type }) => String(type).includes('thinking')));

/** The text of the last message of the user, which names the run, and the step's number after it. */
function getPlace({ messages }: MessagesRequest): { label: string; step: number } {
  const isResult = ({ type }: { type?: unknown }) => type === 'tool_result';
  const last = messages.findLastIndex(({ role, content }) => role === 'user' && !content.every(isResult));
  const text = messages[last]?.content.findLast(({ type }) => type === 'text')?.text;
  const steps = messages.slice(last + 1).filter(({ role }) => role === 'assistant').length;
  return { label: String(text), step: steps + 1 };
}

const mayThink = ({ model, thinking }: MessagesRequest) =>
  thinking === undefined ? thinksByDefault(model) : thinking.type !== 'disabled';

/** Thinks if the request allows it, calls two tools at a time, and answers in its tenth step. */
function tenSteps(request: MessagesRequest, step: number, id: string): ScriptedBlock[] {
  const thinks = mayThink(request);
  const blocks: ScriptedBlock[] = thinks ? [{ type: 'thinking', thinking: `Step ${step}.` }] : [];
  if (thinks && step % 3 === 0) blocks.push({ type: 'redacted_thinking' });
  if (step % 2 === 0) blocks.push({ type: 'text', text: step % 4 === 0 ? ' ' : `Now ${step}.` });
  if (step === STEPS) return [...blocks, { type: 'text', text: 'Done.' }];
  blocks.push(call(`toolu_${id}_a`, 'list_files', { folder: '/app/mnt' }));
  if (thinks && step % 5 === 0) blocks.push({ type: 'thinking', thinking: 'And more.' });
  return [...blocks, call(`toolu_${id}_b`, 'list_files')];
}

const call = (id: string, name: string, input = {}): ScriptedBlock => ({ type: 'tool_use', id, name, input });

/** A run that waits before the answer to one of its requests. */
export interface HeldRun {
  readonly reached: Promise<void>;
  release(): void;
}

/** The text of the model of OpenAI before each of its calls. */
const LOOKS = 'Let me see.';
const OVERLOADED = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };

/**
 * Anthropic and OpenAI, scripted. The message of the user tells what the models do: `hand over` in the third step to the
 * next agent, `tire` from the fourth step on if the model is the first of the agent, `same ids`; otherwise ten steps.
 */
export class ThinkingStage implements AsyncDisposable {
  readonly #holds = new Map<string, { step: number; reached: () => void; released: Promise<void> }>();
  #anthropic!: MessagesServer;
  #openAi!: FakeProvider;

  static async open(): Promise<ThinkingStage> {
    const stage = new ThinkingStage();
    stage.#anthropic = await MessagesServer.start((request) => stage.#answer(request));
    stage.#openAi = await FakeProvider.start();
    stage.#openAi.onCall = (asked) => void stage.#answerChat(asked);
    return stage;
  }

  get env(): Readonly<Record<string, string>> {
    return {
      ANTHROPIC_API_KEY: 'sk-ant-1',
      ANTHROPIC_BASE_URL: this.#anthropic.baseUrl,
      ...this.#openAi.env('chat'),
    };
  }

  get baseUrl(): string {
    return this.#anthropic.baseUrl;
  }

  get url(): string {
    return `${this.baseUrl}/messages`;
  }

  /** All refusals, or those of the run that this message began. */
  refusals(label: string | null = null): string[] {
    const own = this.#anthropic.refusals.filter(({ request }) => label === null || getPlace(request).label === label);
    return own.map(({ rule, message }) => `${rule}: ${message}`);
  }

  /** Forgets the refusals that the proof itself provoked. */
  clear(): void {
    this.#anthropic.refusals.length = 0;
  }

  /** The last request to Anthropic of the run that this message began. */
  lastRequest(label: string): MessagesRequest | undefined {
    return this.#anthropic.requests.findLast((request) => getPlace(request).label === label);
  }

  get asked(): number {
    return this.#anthropic.requests.length;
  }

  /** The run of this message waits in this step. */
  hold(label: string, step: number): HeldRun {
    const reached = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    this.#holds.set(label, { step, reached: reached.resolve, released: released.promise });
    return { reached: reached.promise, release: released.resolve };
  }

  async #answer(request: MessagesRequest): Promise<ScriptedAnswer> {
    const { label, step } = getPlace(request);
    const hold = this.#holds.get(label);
    if (hold?.step === step) {
      hold.reached();
      this.#holds.delete(label);
      await hold.released;
    }
    if (label.startsWith('tire') && request.model === 'claude-sonnet-5' && step > 3)
      return { status: 529, body: OVERLOADED };
    // Servers of other providers repeat their ids in a chat.
    const id = label.startsWith('same ids') ? String(step) : randomUUID().slice(0, 8);
    const next = request.tools?.find(({ name }) => String(name).startsWith('transfer_to_'));
    if (label.startsWith('hand over') && step % 3 === 0 && step < STEPS - 1 && next !== undefined) {
      const thought: ScriptedBlock[] = mayThink(request) ? [{ type: 'thinking', thinking: 'Not mine.' }] : [];
      return [...thought, call(`toolu_${id}_t`, String(next.name))];
    }
    return tenSteps(request, step, id);
  }

  /** Calls a tool with an id that Anthropic would refuse, then hands over if it can, and answers after that. */
  async #answerChat(asked: ProviderCall): Promise<void> {
    const { messages, tools = [] } = asked.body as {
      messages: { role: string; content: unknown }[];
      tools?: { function: { name: string } }[];
    };
    const since = messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1);
    const own = since.filter(({ content }) => content === LOOKS).length;
    const next = tools.find(({ function: { name } }) => name.startsWith('transfer_to_'))?.function.name;
    const usage = { requestCount: 1, inputTokens: 9, cachedTokens: 0, outputTokens: 3, reasoningTokens: 0 };
    const calls = (name: string): StreamScript => ({
      parts: [
        { kind: 'text', deltas: [LOOKS] },
        { kind: 'calls', calls: [[`functions.${name}:${own}`, name, '{}']] },
      ],
      usage,
    });
    const hands = next !== undefined && JSON.stringify(messages).includes('hand over');
    const script =
      own === 0
        ? calls('list_files')
        : own === 1 && hands
          ? calls(next)
          : { parts: [{ kind: 'text' as const, deltas: ['Done.'] }], usage };
    await asked.stream(sseText(providerEvents('chat', script)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { reached } of this.#holds.values()) reached();
    await this.#anthropic[Symbol.asyncDispose]();
    await this.#openAi[Symbol.asyncDispose]();
  }
}
