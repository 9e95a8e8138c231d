import { test } from 'node:test';
import { Rig, type ServerProcess, SHORT_LEASE } from '@runwire/test-kit';
import { count, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import {
  expectAtLeast,
  expectAtMost,
  expectEqual,
  named,
  until,
  WAIT_MS,
  within,
} from '@runwire/test-kit/shortfall.ts';
import { checkOpenCall, type KillSums, killProcess, noKills } from './support/process-kills.ts';
import { expectAllowance } from './support/story.ts';
import { answerAll, CALLS, checkContinued, EVERY_FRAME, playUntil, TOKENS } from './support/three-step-run.ts';

/*
 * Three nodes share a database. One of them has many runs of three model answers and three tool calls, each held at another
 * place, when it dies by SIGKILL. The readers continue on the other two. The first node that dies has stored only finished
 * steps; a new node replaces it, and the next one dies with half of a step stored. Then the process that runs the tools of a
 * node is killed under runs that are held at every event, and the node continues them.
 */

const CONSUMER = 'member-1';
/** The frames at which the runs are held: in a model answer, between two tool calls, after a finished step. */
const HELD_AT = [5, 22, 27, 21, 37, 42, 2, 17, 34, 43];
const TOOL = 'gate_again';
const AGENCY = 'gate';

function holdAll({ model, gate }: Rig): void {
  model.onCall = null;
  gate.onCall = null;
}

/** The id of the last event that is in the database. */
async function lastStored(rig: Rig, runId: string): Promise<number> {
  const last = 'select coalesce(max(last_id), 0) as id from event_chunks where run_id = $1';
  return Number((await rig.query(last, [runId]))[0]?.id);
}

/** Resolves to the time that so many runs take on a living node. */
async function ownTime(rig: Rig, count: number): Promise<number> {
  const startedAt = performance.now();
  answerAll(rig, TOOL, (runId) => runId);
  const runs = Array.from({ length: count }, async (_, place) => {
    const body = { apiIntegrationId: rig.integration, consumerId: CONSUMER, usageRequestId: `own-${place}` };
    const reader = await rig.api(1).complete(body);
    await reader.over;
    expectEqual('last frame of an undisturbed run', reader.frames.at(-1)?.event, 'end');
  });
  await within('runs of a living node', WAIT_MS, Promise.all(runs));
  holdAll(rig);
  return performance.now() - startedAt;
}

interface Kill {
  /** The number of the node that dies; the nodes after it live. */
  readonly doomed: number;
  readonly count: number;
  /** True if nothing but finished steps is stored of the runs. */
  readonly onlySteps: boolean;
  readonly endWithinMs: number;
}

/** Kills the node under its runs; resolves to what became of them on the others. */
async function killOne(rig: Rig, { doomed, count, onlySteps, endWithinMs }: Kill) {
  const held = [];
  for (let place = 0; place < count; place += 1) {
    const options = { api: rig.api(doomed), tool: TOOL, consumerId: CONSUMER } as const;
    const run = await playUntil(rig, `chat-${doomed}-${place}`, HELD_AT[place % HELD_AT.length] ?? 2, options);
    const seen = run.reader.frames.at(-1)?.id ?? 0;
    const isStored = async () => onlySteps || (await lastStored(rig, run.runId)) >= seen;
    await until('storing of what was seen', isStored, { pauseMs: 20 });
    held.push({ ...run, storedId: await lastStored(rig, run.runId) });
  }
  const chats = new Map(held.map(({ runId, chatId }) => [runId, chatId]));
  answerAll(rig, TOOL, (runId) => chats.get(runId) ?? '');
  const others = rig.servers.slice(doomed + 1);
  const killedAt = performance.now();
  await rig.server(doomed).kill();
  let lastEndMs = 0;
  const followed = held.map(async ({ reader }, place) => {
    // Each reader reconnects to another node first.
    const servers = () => (place % 2 === 0 ? others : others.toReversed());
    const read = await rig.follow(reader, { servers, limitMs: endWithinMs }).catch(() => null);
    lastEndMs = Math.max(lastEndMs, Math.round(performance.now() - killedAt));
    return read?.frames ?? [];
  });
  const read = await Promise.all(followed);
  const completed = read.filter((frames) => frames.length > 0).length;
  expectEqual(`runs completed elsewhere within ${endWithinMs} ms`, completed, count);
  const sum = { completed, void_frames: 0, stored_void: 0, exact_usage: 0, tokens: 0, lastEndMs };
  const { api } = others.at(-1) as ServerProcess;
  for (const [place, one] of held.entries()) {
    const { run, stream, ...found } = await checkContinued(rig, one, { api, frames: read[place] ?? [], onlySteps });
    expectEqual('attempts', run.attempt, 2);
    const resumed = stream.frames.find(({ event }) => event === 'resumed');
    const { discard_after: kept } = JSON.parse(resumed?.data ?? '{"discard_after":0}') as { discard_after: number };
    sum.void_frames += found.void_frames;
    sum.exact_usage += found.exact_usage;
    sum.stored_void += Math.max(0, one.storedId - kept);
    sum.tokens += Number(run.usage.total_tokens);
  }
  expectAtLeast('void frames', sum.void_frames, 1);
  expectAtMost('ms to the last end', lastEndMs, endWithinMs);
  holdAll(rig);
  return sum;
}

/** Kills the agency's process on a node under its runs. The node and its streams continue. */
async function killProcesses(rig: Rig, events: readonly number[], sums: KillSums): Promise<number> {
  let tokens = 0;
  for (const tool of ['gate', TOOL] as const) {
    const node = rig.server(2);
    const runs = [];
    for (const event of events) {
      const options = { api: node.api, tool, consumerId: CONSUMER, settles: true };
      runs.push({ event, run: await playUntil(rig, `${tool}-${event}`, event, options) });
    }
    const chats = new Map(runs.map(({ run: { runId, chatId } }) => [runId, chatId]));
    const open = await killProcess(rig, AGENCY, node);
    answerAll(rig, tool, (runId) => chats.get(runId) ?? '');
    for (const { run } of runs) await run.sendRest();
    for (const { event, run } of runs) {
      const label = `process at event ${event}`;
      await within(`${label}: end of the stream`, WAIT_MS, run.reader.over);
      const check = { api: node.api, frames: run.reader.frames, onlySteps: true, callsOfTool: 2 } as const;
      const { run: ended } = await named(label, checkContinued(rig, run, check));
      expectEqual(`${label}: attempts`, ended.attempt, 1);
      tokens += Number(ended.usage.total_tokens);
      const cut = CALLS.map((name) => `${run.chatId}-${name}`).filter((id) => open.has(id));
      for (const id of cut) checkOpenCall(rig, id, tool === TOOL, sums);
      sums.process_runs += 1;
    }
    sums.process_kills += 1;
    holdAll(rig);
  }
  return tokens;
}

test('other nodes complete the runs of a killed node', async () => {
  const fault = plantedFault();
  const perNode = scale(6, 50);
  // The promise is 15 s. A busy machine gets three times as long; the fault needs no slack to show.
  const takenWithinMs = fault === null ? scale(45_000, 15_000) : 2 * SHORT_LEASE.leaseMs;
  const limits = scale<object>(SHORT_LEASE, {});
  await using rig = await Rig.open({ nodes: 0, fault, limits, agencyFolders: [AGENCY] });
  await rig.add({ limits: { ...limits, flushMs: 3_600_000 } });
  for (const _ of [1, 2]) await rig.add();
  const allowances = { unit: 'tokens', limit: 1_000_000, period: 'lifetime' };
  await rig.prepare({ apiIntegrationId: 'takeover', agency: AGENCY, allowances }, CONSUMER);
  const ownMs = await ownTime(rig, perNode);
  const endWithinMs = Math.round(takenWithinMs + ownMs);
  const checkUsed = (tokens: number) =>
    expectAllowance(rig.api(2), `${rig.path}/members/${CONSUMER}`, perNode * TOKENS + tokens);

  const first = await killOne(rig, { doomed: 0, count: perNode, onlySteps: true, endWithinMs });
  expectEqual('nodes fenced', await rig.counter('runwire_nodes_fenced_total'), 1);
  expectEqual('runs counted as taken over', await rig.counter('runwire_runs_taken_over_total'), perNode);
  expectEqual('tokens of the runs of the first node', first.tokens, perNode * TOKENS);
  await checkUsed(first.tokens);
  await rig.add();
  const second = await killOne(rig, { doomed: 1, count: perNode, onlySteps: false, endWithinMs });
  expectAtLeast('stored frames made void', second.stored_void, 1);
  await checkUsed(first.tokens + second.tokens);
  const kills = noKills();
  const third = await killProcesses(rig, scale(HELD_AT, EVERY_FRAME), kills);
  expectAtLeast('calls whose outcome is unknown', kills.unknown_calls, 1);
  expectAtLeast('calls that were repeated', kills.repeated_calls, 1);
  await checkUsed(first.tokens + second.tokens + third);
  count({
    kills: 2,
    ...kills,
    runs: 2 * perNode,
    completed: first.completed + second.completed,
    repeated: 0,
    void_frames: first.void_frames + second.void_frames,
    stored_void: second.stored_void,
    exact_usage: first.exact_usage + second.exact_usage,
    tokens: first.tokens,
    last_end_ms: Math.max(first.lastEndMs, second.lastEndMs),
    own_ms: Math.round(ownMs),
  });
});
