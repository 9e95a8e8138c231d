import {
  type ApiClient,
  type Frame,
  type ModelCall,
  type Rig,
  SCRIPTED_USAGE,
  type StreamReader,
  type ToolController,
} from '@runwire/test-kit';
import { expectAtLeast, expectAtMost, expectEqual, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import { type Body, checkStory, validFrames } from './story.ts';

/*
 * The run of the proofs `heal`, `resume` and `takeover`: three answers of the model. The first asks for two concurrent tools,
 * of which the second ends first, and the second answer asks for one tool.
 */

/** The calls in each answer of the model. */
const ANSWERS = [['a', 'b'], ['c'], []];
/** A repeated step has a new number, so the numbers may have gaps. */
const STEPS = ['model', 'tool', 'tool', 'model', 'tool', 'model'];
export const CALLS = ['a', 'b', 'c'];
const TOKENS_PER_STEP = SCRIPTED_USAGE.inputTokens + SCRIPTED_USAGE.outputTokens;
export const TOKENS = ANSWERS.length * TOKENS_PER_STEP;

interface Scene {
  /** Makes the id of a call unique, because the gate serves many runs. */
  readonly callId: (name: string) => string;
  readonly gate: ToolController;
  readonly tool: string;
  /** The call that the model received last. */
  call: ModelCall;
}

interface Act {
  /** The number of frames that the client has after everything that the act causes has arrived. */
  readonly frames: number;
  readonly play: (scene: Scene) => unknown;
  /** True if a tool call ends, not if the model sends something. */
  readonly endsCall?: true;
  /** True if the model is asked again after it. */
  readonly asks?: true;
  /** Calls of the tool that are held after it. */
  readonly holds?: readonly string[];
}

const says = (text: string) => (scene: Scene) => scene.call.text(text);
const ends = (scene: Scene) => scene.call.end();
const opens = (name: string, output: string) => (scene: Scene) => scene.gate.open(scene.callId(name), output);
const calls = (name: string) => (scene: Scene) =>
  scene.call.toolCall(scene.callId(name), scene.tool, JSON.stringify({ port: scene.gate.port }));

const ACTS: readonly Act[] = [
  { frames: 2, play: () => {} },
  { frames: 5, play: says('Let me ') },
  { frames: 6, play: says('see. ') },
  { frames: 13, play: calls('a') },
  { frames: 17, play: calls('b') },
  { frames: 21, play: ends, holds: ['a', 'b'] },
  { frames: 22, play: opens('b', 'second'), endsCall: true },
  { frames: 24, play: opens('a', 'first'), endsCall: true, asks: true },
  { frames: 27, play: says('More. ') },
  { frames: 34, play: calls('c') },
  { frames: 37, play: ends, holds: ['c'] },
  { frames: 39, play: opens('c', 'third'), endsCall: true, asks: true },
  { frames: 42, play: says('All ') },
  { frames: 43, play: says('done.') },
  { frames: 50, play: ends },
];

export const FRAMES = ACTS.at(-1)?.frames ?? 0;
export const EVERY_FRAME = Array.from({ length: FRAMES }, (_, place) => place + 1);

export interface RunOptions {
  /** The run's server. */
  readonly api?: ApiClient;
  /** The tool that the model calls. `gate_again` may be repeated. */
  readonly tool?: 'gate' | 'gate_again';
  readonly consumerId?: string;
  /** Waits until the model has received a call that the last act causes. */
  readonly settles?: boolean;
}

export interface PlayedRun {
  readonly runId: string;
  readonly chatId: string;
  readonly tool: string;
  readonly reader: StreamReader;
  /** Makes the model fail at the next moment at which it could send something. */
  readonly fail: () => Promise<void>;
  /** Sends the rest of the answer that the model is sending, if it is. */
  readonly sendRest: () => Promise<void>;
}

/** Returns this run's next call. Skips calls of runs that were cut. */
export async function nextCall({ model }: Rig, runId: string): Promise<ModelCall> {
  for (;;) {
    const call = await within('model call', WAIT_MS, model.nextCall());
    if (call.request.runId === runId) return call;
  }
}

/** Plays the run, in lock-step, until the client has this many frames. */
export async function playUntil(rig: Rig, chatId: string, frames: number, options: RunOptions = {}) {
  const { api = rig.api(), tool = 'gate', settles = false, ...member } = options;
  const { gate } = rig;
  const ids = { apiIntegrationId: rig.integration, chatId, usageRequestId: chatId };
  const reader = await api.complete({ ...ids, message: 'Go', ...member });
  const runId = String(reader.headers['x-run-id']);
  const scene: Scene = { gate, tool, callId: (name) => `${chatId}-${name}`, call: await nextCall(rig, runId) };
  const untilHeld = (id: string) => within('held call', WAIT_MS, gate.holds(id));
  let held: readonly string[] = [];
  /** The model is being asked and has not received the call yet: the run is cut at this moment. */
  let isAsked = false;
  let seen = 0;
  let played = 0;
  for (const act of ACTS) {
    if (seen >= frames) break;
    await act.play(scene);
    seen = act.frames;
    played += 1;
    const count = Math.min(seen, frames);
    const hasThem = reader.until((r) => r.frames.length >= count);
    await within(`frame ${count}`, WAIT_MS, hasThem);
    isAsked = act.asks === true && seen > frames && !settles;
    if (act.asks === true && !isAsked) scene.call = await nextCall(rig, runId);
    if (act.holds !== undefined) held = act.holds.map(scene.callId);
    else if (act.asks === true) held = [];
    if (seen < frames && act.holds !== undefined) for (const id of held) await untilHeld(id);
  }
  const fail = async () => {
    for (const id of held) {
      if (reader.text.includes(`"function_call_output","call_id":"${id}"`)) continue;
      await untilHeld(id);
      gate.open(id, 'late');
    }
    if (held.length > 0 || isAsked) scene.call = await nextCall(rig, runId);
    await scene.call.fail('model_error', 'The model fell over.');
  };
  const sendRest = async () => {
    for (const act of ACTS.slice(played)) {
      if (act.endsCall === true) return;
      await act.play(scene);
      if (act.play === ends) return;
    }
  };
  return { runId, chatId, tool, reader, fail, sendRest };
}

/** Model and tools answer every call after a kill, each from the beginning of the step that the call is for. */
export function answerAll({ model, gate }: Rig, tool: string, getChat: (runId: string) => string): void {
  model.onCall = async (call) => {
    const { prompt, runId } = call.request;
    const outputs = prompt.filter(({ kind }) => kind === 'tool_output').length;
    await call.text(`Anew after ${outputs}. `);
    for (const name of ANSWERS[Math.ceil(outputs / 2)] ?? [])
      await call.toolCall(`${getChat(runId)}-${name}`, tool, JSON.stringify({ port: gate.port }));
    await call.end();
  };
  gate.onCall = ({ callId }) => gate.open(callId, `anew ${callId}`);
}

/**
 * The usage is the sum of the finished steps, once each, plus what was stored of a call that died with its process:
 * nothing if only steps are stored, otherwise at most that call. Returns true if the usage is exactly that of the
 * steps.
 */
function checkUsage(run: Body, steps: readonly Body[], { model }: Rig, onlySteps: boolean): boolean {
  const ofSteps = steps.reduce((sum, step) => sum + (step.usage?.total_tokens ?? 0), 0);
  expectEqual('tokens of the finished steps', ofSteps, TOKENS);
  const died = model.calls.filter(({ request }) => request.runId === run.runId).length - ANSWERS.length;
  const counted = run.usage.request_count - ANSWERS.length;
  expectAtLeast('void calls that are counted', counted, 0);
  expectAtMost('void calls that are counted', counted, onlySteps ? 0 : died);
  if (counted > 0) expectAtLeast('tokens with a void call', run.usage.total_tokens, ofSteps);
  else expectEqual('tokens', run.usage.total_tokens, ofSteps);
  return counted === 0;
}

interface ContinuedCheck {
  readonly api?: ApiClient;
  readonly frames: readonly Frame[];
  readonly onlySteps: boolean;
  readonly callsOfTool?: 1 | 2;
}

/**
 * The run continued after its server died, and no finished step was repeated. A tool that may not be repeated was called once.
 * Any other tool can tell by its key that it was called before. `onlySteps`: only finished steps were stored. `callsOfTool`
 * is 2 if the agency's process was killed.
 */
export async function checkContinued(
  rig: Rig,
  { runId, chatId, tool }: PlayedRun,
  { api = rig.api(), frames, onlySteps, callsOfTool = 1 }: ContinuedCheck,
) {
  const { run, steps, stream } = await checkStory(rig, { api, runId, seen: frames, callsOfTool });
  expectEqual('end of the run', [run.status, run.error], ['completed', null]);
  const kinds = steps.map(({ kind }) => kind);
  expectEqual('steps', kinds.toReversed(), STEPS);
  for (const name of CALLS) {
    const called = rig.gate.calls.filter(({ callId }) => callId === `${chatId}-${name}`);
    expectAtMost(`calls of tool ${name}`, called.length, tool === 'gate' ? 1 : 2);
    expectAtMost(`idempotency keys of tool ${name}`, new Set(called.map((call) => call.idempotencyKey)).size, 1);
  }
  expectEqual('what a reader put together', validFrames(frames), stream.frames);
  const exact = Number(checkUsage(run, steps, rig, onlySteps));
  return { run, stream, void_frames: frames.length - stream.frames.length, exact_usage: exact };
}
