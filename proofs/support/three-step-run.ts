import type { ApiClient, ModelCall, ModelController, StreamReader, ToolController } from '@runwire/test-kit';
import { within } from './proof.ts';

export const WAIT_MS = 60_000;

export interface Stage {
  readonly api: ApiClient;
  readonly model: ModelController;
  readonly gate: ToolController;
  readonly integration: string;
  /** The tool that the model calls; `gate` by default. */
  readonly tool?: 'gate' | 'gate_again';
  /** The member of the run; by default the run has none. */
  readonly consumerId?: string;
}

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
  /** True if the model is asked again after it. */
  readonly asks?: true;
  /** Calls of the tool that are held after it. */
  readonly holds?: readonly string[];
}

const gateCall = (name: string) => (scene: Scene) =>
  scene.call.toolCall(scene.callId(name), scene.tool, JSON.stringify({ port: scene.gate.port }));

/** Three answers of the model. The first asks for two concurrent tools, of which the second ends first. */
const ACTS: readonly Act[] = [
  { frames: 2, play: () => {} },
  { frames: 5, play: ({ call }) => call.text('Let me ') },
  { frames: 6, play: ({ call }) => call.text('see. ') },
  { frames: 13, play: gateCall('a') },
  { frames: 17, play: gateCall('b') },
  { frames: 21, play: ({ call }) => call.end(), holds: ['a', 'b'] },
  { frames: 22, play: ({ gate, callId }) => gate.open(callId('b'), 'second') },
  { frames: 24, play: ({ gate, callId }) => gate.open(callId('a'), 'first'), asks: true },
  { frames: 27, play: ({ call }) => call.text('More. ') },
  { frames: 34, play: gateCall('c') },
  { frames: 37, play: ({ call }) => call.end(), holds: ['c'] },
  { frames: 39, play: ({ gate, callId }) => gate.open(callId('c'), 'third'), asks: true },
  { frames: 42, play: ({ call }) => call.text('All ') },
  { frames: 43, play: ({ call }) => call.text('done.') },
  { frames: 50, play: ({ call }) => call.end() },
];

export const FRAMES = ACTS.at(-1)?.frames ?? 0;

export interface PlayedRun {
  readonly runId: string;
  readonly reader: StreamReader;
  /** Makes the model fail at the next moment at which it could send something. */
  readonly fail: () => Promise<void>;
}

/** Returns the next call of this run. Skips calls of runs that were cut. */
export async function nextCall(model: ModelController, runId: string): Promise<ModelCall> {
  for (;;) {
    const call = await within('model call', WAIT_MS, model.nextCall());
    if (call.request.runId === runId) return call;
  }
}

/** Plays the run, in lock-step, until the client has this many frames. */
export async function playUntil(stage: Stage, chatId: string, frames: number): Promise<PlayedRun> {
  const { api, model, gate, integration, tool = 'gate', consumerId } = stage;
  const member = consumerId === undefined ? {} : { consumerId, usageRequestId: chatId };
  const reader = await api.complete({ apiIntegrationId: integration, chatId, message: 'Go', ...member });
  const runId = String(reader.headers['x-run-id']);
  const callId = (name: string) => `${chatId}-${name}`;
  const scene: Scene = { gate, callId, tool, call: await nextCall(model, runId) };
  let held: readonly string[] = [];
  /** The model is being asked and has not received the call yet: the run is cut at this moment. */
  let asked = false;
  let seen = 0;
  for (const act of ACTS) {
    if (seen >= frames) break;
    await act.play(scene);
    seen = act.frames;
    await within(
      `frame ${Math.min(seen, frames)}`,
      WAIT_MS,
      reader.until((r) => r.frames.length >= Math.min(seen, frames)),
    );
    if (act.asks === true) {
      asked = seen > frames;
      if (!asked) scene.call = await nextCall(model, runId);
    }
    if (act.holds !== undefined) held = act.holds.map(callId);
    else if (act.asks === true) held = [];
    if (seen < frames) for (const name of act.holds ?? []) await within('held call', WAIT_MS, gate.holds(callId(name)));
  }
  const fail = async () => {
    if (held.length > 0) {
      for (const id of held) {
        if (!reader.text.includes(`"function_call_output","call_id":"${id}"`)) {
          await within('held call', WAIT_MS, gate.holds(id));
          gate.open(id, 'late');
        }
      }
    }
    if (held.length > 0 || asked) scene.call = await nextCall(model, runId);
    await scene.call.fail('model_error', 'The model fell over.');
  };
  return { runId, reader, fail };
}
