import type { ApiClient, Frame, Rig } from '@runwire/test-kit';
import { expectAtLeast, expectAtMost, expectEqual, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import { type Body, checkStory, validFrames } from './story.ts';
import {
  callId,
  endHeld,
  FRAMES,
  LAST_STEP,
  listCalls,
  listToolCalls,
  ONCE,
  playUntil,
  type TeamRun,
  TOOLS,
} from './team-run.ts';

/** What the run used and produced, without ids. */
export interface TeamResult {
  readonly usage: Body;
  readonly message: string;
  readonly steps: readonly string[];
  readonly items: readonly string[];
}

function toResult({ run, steps, stream }: Awaited<ReturnType<typeof checkStory>>): TeamResult {
  const messages: Body = JSON.parse(stream.frames.find(({ event }) => event === 'messages')?.data ?? '{}');
  const shown = messages.new_messages.map((item: Body) =>
    [item.agent, item.callerAgent, item.type, item.name, item.content?.[0]?.text ?? item.content].join(' '),
  );
  const local = (id: string | null) => (id === null ? '' : id.replace(`${run.runId}-`, ''));
  const names = steps.map(({ agent, kind, tool, callId: call, loop, handoff }) =>
    [agent, kind, tool, local(call), local(loop), handoff].join(' '),
  );
  return { usage: run.usage, message: run.message, steps: names.toSorted(), items: shown.toSorted() };
}

/** Plays a run without a cut. */
export async function uncut(rig: Rig): Promise<TeamResult> {
  const { runId, reader } = await playUntil(rig, 'uncut', FRAMES);
  const story = await checkStory(rig, { runId, seen: reader.frames });
  expectEqual('frames of an uncut run', story.stream.frames.length, FRAMES);
  expectEqual('tool calls of an uncut run', listToolCalls(rig, runId).length, TOOLS.length);
  return toResult(story);
}

/** Every item of the log is finished or void, and no void item is in the result. */
function checkItems(frames: readonly Frame[]) {
  const parsed = frames.flatMap(({ event, data }): Body[] => (event === 'end' ? [] : [JSON.parse(data)]));
  const ids = (type: string) =>
    parsed.flatMap(({ data }) => (data?.data?.type === `response.output_item.${type}` ? [data.data.item.id] : []));
  const voided = parsed.flatMap(({ void_items: items }) => items ?? []);
  const done = new Set([...ids('done'), ...voided]);
  const open = ids('added').filter((id) => !done.has(id));
  expectEqual('items neither finished nor void', open.length, 0);
  const shown = parsed.flatMap(({ new_messages: items }) => items ?? []).filter(({ id }) => voided.includes(id));
  expectEqual('void items in the result', shown.length, 0);
  return voided.length;
}

/** The responses that began before a finished step of another loop, and did not end. */
function voidCalls(frames: readonly Frame[]): number {
  const last = frames.findLastIndex(({ event }) => event === 'resumed');
  const kept = frames.slice(0, Math.max(0, last));
  const count = (type: string) => kept.filter(({ data }) => data.includes(`"type":"response.${type}"`)).length;
  return count('created') - count('completed');
}

export interface TeamCheck {
  readonly api?: ApiClient;
  readonly frames: readonly Frame[];
  readonly whole: TeamResult;
  /** True if the run was stopped between two steps, so that nothing of it was cut. */
  readonly betweenSteps?: boolean;
  /** True if nothing but finished steps was stored, each with all events before it. */
  readonly onlySteps?: boolean;
  /** True if only the agency's process was killed. */
  readonly onlyProcess?: boolean;
}

/** The run continued after its server ended, and nothing was done twice: it has the steps and an uncut run's answer. */
export async function checkTeamRun(rig: Rig, runId: string, check: TeamCheck) {
  const { api, frames, whole, betweenSteps = false, onlySteps = false, onlyProcess = false } = check;
  const callsOfTool = onlyProcess ? 2 : 1;
  const story = await checkStory(rig, { ...(api === undefined ? {} : { api }), runId, seen: frames, callsOfTool });
  const { run, steps, stream } = story;
  expectEqual('end of the run', [run.status, run.error], ['completed', null]);
  const { usage, ...result } = toResult(story);
  const { usage: expected, ...same } = whole;
  expectEqual('steps, answer and items', result, same);
  expectEqual('numbers of steps', new Set(steps.map(({ step }) => step)).size, steps.length);
  for (const name of TOOLS) {
    const called = rig.gate.calls.filter((call) => call.callId === callId(runId, name));
    const most = betweenSteps || ONCE.includes(name) ? 1 : 2;
    expectAtMost(`calls of tool ${name}`, called.length, most);
    expectAtMost(`idempotency keys of tool ${name}`, new Set(called.map((call) => call.idempotencyKey)).size, 1);
  }
  const died = listCalls(rig, runId).length - steps.filter(({ kind }) => kind === 'model').length;
  const ofSteps = steps.reduce((sum, step) => sum + (step.usage?.total_tokens ?? 0), 0);
  expectEqual('tokens of the finished steps', ofSteps, expected.total_tokens);
  // A call that died with its process is charged if its beginning was stored, and only then.
  const counted = run.usage.request_count - expected.request_count;
  const stored = voidCalls(stream.frames);
  expectAtLeast('void calls that are counted', counted, stored);
  expectAtMost('void calls that are counted', counted, betweenSteps || onlyProcess ? 0 : onlySteps ? stored : died);
  if (counted === 0) expectEqual('usage', usage, expected);
  expectEqual('what a reader put together', validFrames(frames), stream.frames);
  const void_items = checkItems(stream.frames);
  return { attempt: run.attempt as number, void_items, exact_usage: Number(counted === 0) };
}

/** The run was cancelled: no call began after that. `mode` `after_step` also finishes every step that had begun. */
export async function checkCancelled(rig: Rig, { runId, reader }: TeamRun, mode: 'immediate' | 'after_step') {
  const path = `${rig.path}/runs/${runId}`;
  const before = listCalls(rig, runId).length;
  const tools = listToolCalls(rig, runId).length;
  const isLast = reader.frames.length >= LAST_STEP && mode === 'after_step';
  const answer = rig.api().post(`${path}/cancel`, { mode });
  if (mode === 'after_step') {
    await within('cancel intent', WAIT_MS, intent(rig, path));
    await endHeld(rig, runId);
  }
  const { body } = await within('answer to the cancel', WAIT_MS, answer);
  expectEqual('cancelled run', body.status, isLast ? 'completed' : 'cancelled');
  await within('end of a cancelled run', WAIT_MS, reader.over);
  const { run, steps, stream } = await checkStory(rig, { runId, seen: reader.frames });
  expectEqual('model calls after a cancel', listCalls(rig, runId).length - before, 0);
  expectEqual('tool calls after a cancel', listToolCalls(rig, runId).length - tools, 0);
  expectEqual('model calls that are charged', run.usage.request_count, before);
  if (mode === 'immediate') return;
  checkItems(stream.frames);
  expectEqual('model steps that were finished', steps.filter(({ kind }) => kind === 'model').length, before);
  expectEqual('tool calls that were finished', steps.filter(({ tool }) => /^gate/.test(tool ?? '')).length, tools);
}

async function intent(rig: Rig, path: string): Promise<void> {
  while ((await rig.api().get(path)).body.cancelRequested === null) await new Promise(setImmediate);
}
