import type { ApiClient, ModelCall, Rig, StreamReader } from '@runwire/test-kit';
import { WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import { nextCall } from './three-step-run.ts';

/*
 * The run of the proof `agents-resume`, with the agency `team`: Desk hands over to Lead. Lead asks Research and Facts
 * concurrently and calls a tool; Research asks Clerk and calls a tool; Facts and Clerk call one tool each.
 */

/** A text, or a call: its name in the run, the tool and the arguments. */
type Piece = string | readonly [name: string, tool: string, given?: object];

const asks = (name: string, agent: string, message: string): Piece => [
  name,
  'send_message',
  { recipient_agent: agent, message },
];

/** Each agent's answers, by the number of tool outputs in its prompt. The tools `t` and `y` may not be repeated. */
const ANSWERS: Readonly<Record<string, Readonly<Record<number, readonly Piece[]>>>> = {
  Desk: { 0: ['One moment. ', ['h', 'transfer_to_Lead', {}]] },
  Lead: {
    1: ['I ask two. ', asks('r', 'Research', 'Find it.'), asks('f', 'Facts', 'When?'), ['t', 'gate']],
    4: ['Both ', 'agree.'],
  },
  Research: { 0: ['Let me see. ', ['x', 'gate_again'], asks('c', 'Clerk', 'Which file?')], 2: ['It is so.'] },
  Facts: { 0: ['Hm. ', ['y', 'gate']], 1: ['In ', 'May.'] },
  Clerk: { 0: [['z', 'gate_again']], 1: ['File 7.'] },
};
export const TOOLS = ['t', 'x', 'y', 'z'];
export const ONCE = ['t', 'y'];

interface Act {
  /** The agent whose model sends its next piece or, after the last one, ends. */
  readonly says?: string;
  /** The tool call that ends. */
  readonly opens?: string;
  /** The number of frames that the client has after everything that the act causes has arrived. */
  readonly frames: number;
  /** The agents whose models are called after it. */
  readonly asks?: readonly string[];
  /** The tool calls that begin after it. */
  readonly holds?: readonly string[];
}

const ACTS: readonly Act[] = [
  { frames: 2, asks: ['Desk'] },
  { says: 'Desk', frames: 5 },
  { says: 'Desk', frames: 12 },
  { says: 'Desk', frames: 18, asks: ['Lead'] },
  { says: 'Lead', frames: 21 },
  { says: 'Lead', frames: 28 },
  { says: 'Lead', frames: 32 },
  { says: 'Lead', frames: 36 },
  { says: 'Lead', frames: 43, asks: ['Research', 'Facts'], holds: ['t'] },
  { says: 'Facts', frames: 46 },
  { says: 'Research', frames: 49 },
  { opens: 't', frames: 50 },
  { says: 'Research', frames: 57 },
  { says: 'Facts', frames: 64 },
  { says: 'Facts', frames: 67, holds: ['y'] },
  { says: 'Research', frames: 71 },
  { says: 'Research', frames: 76, asks: ['Clerk'], holds: ['x'] },
  { says: 'Clerk', frames: 80 },
  { opens: 'y', frames: 82, asks: ['Facts'] },
  { says: 'Facts', frames: 85 },
  { says: 'Clerk', frames: 87, holds: ['z'] },
  { opens: 'x', frames: 88 },
  { opens: 'z', frames: 90, asks: ['Clerk'] },
  { says: 'Facts', frames: 91 },
  { says: 'Clerk', frames: 94 },
  { says: 'Clerk', frames: 101, asks: ['Research'] },
  { says: 'Facts', frames: 107 },
  { says: 'Research', frames: 110 },
  { says: 'Research', frames: 117, asks: ['Lead'] },
  { says: 'Lead', frames: 120 },
  { says: 'Lead', frames: 121 },
  { says: 'Lead', frames: 128 },
];
export const FRAMES = ACTS.at(-1)?.frames ?? 0;
/** From this frame on the run's last step is under way, or the run has ended. */
export const LAST_STEP = 117;

const getAgent = ({ request }: ModelCall) => /^You are (\w+)\./.exec(request.instructions)?.[1] ?? '';
export const callId = (runId: string, name: string) => `${runId}-${name}`;
export const listCalls = ({ model }: Rig, runId: string) =>
  model.calls.filter(({ request }) => request.runId === runId);
export const listToolCalls = ({ gate }: Rig, runId: string) =>
  gate.calls.filter((call) => call.callId.startsWith(callId(runId, '')));

/** The number of pieces that a call has sent. */
const sent = new WeakMap<ModelCall, number>();

/** Sends the next piece of the answer, or its end. Returns false after the end. */
async function sendNext({ gate }: Rig, call: ModelCall): Promise<boolean> {
  const outputs = call.request.prompt.filter(({ kind }) => kind === 'tool_output').length;
  const index = sent.get(call) ?? 0;
  sent.set(call, index + 1);
  const piece = ANSWERS[getAgent(call)]?.[outputs]?.[index];
  if (piece === undefined) {
    await call.end();
    return false;
  }
  if (typeof piece === 'string') await call.text(piece);
  else {
    const [name, tool, given = { port: gate.port }] = piece;
    await call.toolCall(callId(call.request.runId, name), tool, JSON.stringify(given));
  }
  return true;
}

async function finish(rig: Rig, call: ModelCall): Promise<void> {
  while (!call.isClosed && (await sendNext(rig, call)));
}

/** From now on models and tools answer every call. */
export function answerAll(rig: Rig): void {
  const { model, gate } = rig;
  model.onCall = (call) => void finish(rig, call);
  gate.onCall = (call) => gate.open(call.callId, 'done');
}

/** From now on models and tools wait to be played. */
export function holdAll({ model, gate }: Rig): void {
  model.onCall = null;
  gate.onCall = null;
}

/** Ends the calls of the run that are held; later ones wait. */
export async function endHeld(rig: Rig, runId: string): Promise<void> {
  await Promise.all(listCalls(rig, runId).map((call) => finish(rig, call)));
  for (const call of listToolCalls(rig, runId)) rig.gate.open(call.callId, 'done');
}

export interface TeamRun {
  readonly runId: string;
  readonly reader: StreamReader;
}

interface PlayOptions {
  readonly api?: ApiClient;
  /** Lets everything happen that the last act causes, so that all open calls are held. */
  readonly settles?: boolean;
}

/** Plays the run, in lock-step, until the client has this many frames. */
export async function playUntil(rig: Rig, chatId: string, frames: number, options: PlayOptions = {}): Promise<TeamRun> {
  const { api = rig.api(), settles = false } = options;
  const ids = { apiIntegrationId: rig.integration, chatId, usageRequestId: chatId };
  const reader = await api.complete({ ...ids, message: 'Check it.' });
  const runId = String(reader.headers['x-run-id']);
  const calls = new Map<string, ModelCall>();
  const afterAct = async ({ asks: asked = [], holds = [] }: Act) => {
    for (const _ of asked) {
      const call = await nextCall(rig, runId);
      calls.set(getAgent(call), call);
    }
    for (const name of holds) await within('held call', WAIT_MS, rig.gate.holds(callId(runId, name)));
  };
  let last: Act | null = null;
  for (const act of ACTS) {
    if (last !== null) {
      if (last.frames >= frames) break;
      await afterAct(last);
    }
    if (act.says !== undefined) await sendNext(rig, calls.get(act.says) as ModelCall);
    if (act.opens !== undefined) rig.gate.open(callId(runId, act.opens), 'done');
    const count = settles ? act.frames : Math.min(act.frames, frames);
    await within(
      `frame ${count}`,
      WAIT_MS,
      reader.until((one) => one.frames.length >= count),
    );
    last = act;
  }
  if (settles && last !== null) await afterAct(last);
  return { runId, reader };
}
