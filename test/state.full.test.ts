import { test } from 'node:test';
import { type AnyRig, type ModelCall, Rig, SHORT_LEASE } from '@runwire/test-kit';
import { count, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import { addTo, expectAtLeast, expectEqual, named, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';

/*
 * A run makes six calls in three answers; each keeps in the chat's state which of the others it finds there. One of their tools
 * is hidden if the step begins at a millisecond that 4 divides. The server is killed when the client has seen event 1,
 * event 2, and so on: on the embedded store the next start continues the run, of two nodes the other one does. The tools run in
 * the agency's own process.
 */

/** The calls of each answer: `again` and `sometimes` may be repeated. The second call ends first. */
const ANSWERS = [['a again', 'b once', 'f sometimes'], ['c once', 'd again'], ['e once']] as const;
const IDS = ['a', 'b', 'c', 'd', 'e', 'f'];
const TOOLS = { again: 'keep_again', sometimes: 'keep_sometimes', once: 'keep' } as const;
const PAUSES_MS = { a: 20, f: 60, c: 20, e: 20 } as const;
const toId = (call: string) => call[0] ?? '';
/** The frames of a run that is not cut, without the last ones. */
const FRAMES = 51;
const EVERY_EVENT = Array.from({ length: FRAMES }, (_, index) => index + 1);
const SHORT = { embedded: [20, 43], nodes: [19, 43] };

type Sums = Record<'runs' | 'changes' | 'unknown_calls' | 'hidden_calls', number>;

/** Plays the answers by the outputs that the prompt has since the last message of the user. */
async function answer(call: ModelCall): Promise<void> {
  const { prompt } = call.request;
  const made = prompt.filter(({ kind }) => kind === 'tool_output').length;
  const index = ANSWERS.findIndex((_, answered) => ANSWERS.slice(0, answered).flat().length === made);
  const calls = ANSWERS[index];
  if (calls === undefined) await call.text('Done.');
  for (const one of calls ?? []) {
    const [id, kind] = one.split(' ') as [keyof typeof PAUSES_MS, keyof typeof TOOLS];
    const given = { id, known: IDS, pauseMs: PAUSES_MS[id] ?? 0 };
    await call.toolCall(id, TOOLS[kind], JSON.stringify(given));
  }
  await call.end();
}

interface StoredStep {
  readonly step: number;
  readonly kind: string;
  readonly callId: string;
  readonly status: string;
  readonly lastEventId: number;
  readonly startedAt: string;
  readonly error: { readonly message: string } | null;
  readonly hidden: readonly { readonly name: string }[];
  readonly stateChanges: { readonly set: Readonly<Record<string, unknown>> } | null;
}

/** A state change exists exactly if its step does, and every call saw the state before its answer. */
async function check(rig: AnyRig, runId: string, chatId: string, sums: Sums): Promise<void> {
  const api = rig.servers.at(-1)?.api;
  if (api === undefined) throw new Error('No server is alive.');
  const read = async (path: string) => (await api.get(`${rig.path}/${path}`)).body;
  const run = await read(`runs/${runId}`);
  expectEqual('status of the run', run.status, 'completed');
  const { items } = (await read(`runs/${runId}/steps?limit=100`)) as { readonly items: readonly StoredStep[] };
  const calls = items.filter(({ kind }) => kind === 'tool').toSorted((a, b) => a.lastEventId - b.lastEventId);
  expectEqual('calls', calls.map(({ callId }) => callId).toSorted(), IDS);
  const made = calls.filter(({ status }) => status === 'completed');
  const expected = new Map<string, unknown>();
  for (const answered of ANSWERS) {
    const before = IDS.filter((id) => expected.has(id));
    for (const one of answered) if (made.some(({ callId }) => callId === toId(one))) expected.set(toId(one), before);
  }
  for (const { callId, status, stateChanges } of calls) {
    const changes =
      status === 'completed' ? { set: { [callId]: expected.get(callId), last: callId }, removed: [] } : null;
    expectEqual(`changes of the step of ${callId}`, stateChanges, changes);
  }
  await checkHidden(items, (step) => read(`runs/${runId}/steps/${step}/prompt`));
  const last = made.at(-1)?.callId;
  const whole = { ...Object.fromEntries(expected), ...(last !== undefined && { last }) };
  const sorted = (state: object) => Object.entries(state).toSorted(([a], [b]) => (a < b ? -1 : 1));
  expectEqual('state of the chat', sorted(await read(`chats/${chatId}/state`)), sorted(whole));
  const fork = await api.post(`${rig.path}/chats/${chatId}/fork`, { runId });
  expectEqual('state of a fork', sorted(await read(`chats/${fork.body.chatId}/state`)), sorted(whole));
  const hidden = calls.filter(({ error }) => error?.message === NO_TOOL).length;
  addTo(sums, {
    runs: 1,
    changes: made.length,
    unknown_calls: calls.length - made.length - hidden,
    hidden_calls: hidden,
  });
}

const NO_TOOL = 'There is no tool `keep_sometimes`.';

/** What a step hid follows from its stored start, and decides the outcome of its call and its prompt, in every attempt. */
async function checkHidden(
  items: readonly StoredStep[],
  readPrompt: (
    step: number,
  ) => Promise<{ readonly exact: boolean; readonly tools: readonly { readonly name: string }[] }>,
): Promise<void> {
  const models = items.filter(({ kind }) => kind === 'model').toSorted((a, b) => a.step - b.step);
  for (const { step, startedAt, hidden } of models) {
    const isHidden = Date.parse(startedAt) % 4 === 0;
    const names = hidden.map(({ name }) => name);
    expectEqual(`what step ${step} hid`, names, isHidden ? ['keep_sometimes'] : []);
    const { exact, tools } = await readPrompt(step);
    const shown = tools.filter(({ name }) => name === 'keep_sometimes').length;
    expectEqual(`the prompt of step ${step}`, [exact, shown], [true, isHidden ? 0 : 1]);
  }
  const call = items.find(({ callId }) => callId === 'f');
  const isHidden = models[0]?.hidden.length === 1;
  const outcome = isHidden ? ['failed', NO_TOOL] : ['completed', null];
  expectEqual('outcome of the hidden tool', [call?.status, call?.error?.message ?? null], outcome);
}

/** Kills the server of a run at each of these events, and lets another one continue the run. */
async function killAtEvents(rig: Rig, events: readonly number[], sums: Sums): Promise<void> {
  await rig.prepare({ apiIntegrationId: 'keeping', agency: 'keeping' });
  rig.model.onCall = (call) => void answer(call).catch(() => {});
  for (const event of [0, ...events]) {
    const chatId = `chat-${event}`;
    const ids = { apiIntegrationId: rig.integration, chatId, usageRequestId: chatId };
    const reader = await rig.server().api.complete({ ...ids, message: 'Keep.' });
    const runId = String(reader.headers['x-run-id']);
    if (event > 0) {
      const seen = reader.until((one) => one.frames.length >= event || one.answer === 'Done.');
      await within(`frame ${event}`, WAIT_MS, seen);
      await rig.server().kill();
      rig.servers.shift();
      await rig.add();
    }
    await rig.follow(reader);
    await named(`killed at event ${event}`, check(rig, runId, chatId, sums));
  }
}

test('a change of the state exists exactly if its step does', async () => {
  const fault = plantedFault();
  const sums: Sums = { runs: 0, changes: 0, unknown_calls: 0, hidden_calls: 0 };
  const agencyFolders = ['keeping'] as const;
  {
    await using rig = await Rig.start({ fault, agencyFolders });
    await killAtEvents(rig, scale(SHORT.embedded, EVERY_EVENT), sums);
  }
  if (fault === null) {
    await using rig = await Rig.start({ nodes: 2, limits: SHORT_LEASE, agencyFolders });
    await killAtEvents(rig, scale(SHORT.nodes, EVERY_EVENT), sums);
    expectAtLeast('changes', sums.changes, 3 * sums.runs);
  }
  count(sums);
});
