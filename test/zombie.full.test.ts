import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  FileServer,
  imageAttachment,
  type ModelCall,
  makePng,
  Rig,
  type ServerProcess,
  SHORT_LEASE,
  type StreamReader,
  WAIT_POINTS,
  type WaitPoint,
} from '@runwire/test-kit';
import { count, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import { addTo, expectEqual, until, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import * as cases from './support/crash-cases.ts';
import { type CrashCase, REQUEST, storedAt } from './support/crash-cases.ts';
import { inLanes } from './support/lanes.ts';
import { checkStory, expectAllowance } from './support/story.ts';

/*
 * A node stops itself by SIGSTOP at a wait point, until the others have declared it dead and taken its run over; the model of
 * the new attempt is held. Then the node continues by SIGCONT. Until it has registered again, and after, what is stored and
 * what its readers got must not change.
 */

/** Long enough for everything that an old attempt could still write: it stores every 100 ms. */
const AFTER_MS = 2000;
const SETTLE_MS = 500;
/** Compacts ended runs, and again only after everything was compared: a node may do so once it has registered again. */
const SWEEP = { logMs: 0, sweepMs: 12_000 };
const LANES = 4;
const TABLES = ['runs', 'steps', 'event_chunks', 'messages', 'chats', 'usage_days', 'blobs', 'attachments'];

/** Returns every row and every file as lines that can be compared. */
async function dump(rig: Rig): Promise<Set<string>> {
  const rows = TABLES.map((table) => `select '${table} ' || row_to_json(t)::text as line from ${table} t`);
  const lines = (await rig.query(rows.join(' union all '))).map(({ line }) => String(line));
  for (const entry of readdirSync(rig.dataDir, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) lines.push(`file ${relative(rig.dataDir, path)} ${hash('sha256', readFileSync(path))}`);
  }
  return new Set(lines);
}

/** The new attempt waits for its model, and stores what it has until then. */
async function settledDump(rig: Rig): Promise<Set<string>> {
  for (let before = await dump(rig); ; ) {
    await sleep(SETTLE_MS);
    const again = await dump(rig);
    if (before.symmetricDifference(again).size === 0) return again;
    before = again;
  }
}

/** Calls of attempts up to the last one of the old node follow the script; later ones are held. */
function holdCalls({ model }: Rig, crash: CrashCase) {
  // A node that stops before it commits the takeover has begun no attempt. `late` counts calls of an old attempt that
  // connected after the takeover.
  const last = crash.takeover === 'takeover.after-commit' ? 2 : 1;
  const calls = { held: [] as ModelCall[], late: 0, overAt: Number.POSITIVE_INFINITY };
  model.onCall = (call) => {
    if (call.request.attempt > last) calls.held.push(call);
    else if (call.connectedAt > calls.overAt) calls.late += 1;
    else if (calls.overAt >= performance.now()) cases.say(crash, call).catch(() => {});
  };
  return calls;
}

/** Resolves when a node is frozen at its point. If it takes a run over, another node was killed before. */
async function stop(rig: Rig, crash: CrashCase, request: Record<string, unknown>, fault: string | null) {
  const { takeover, point, time } = crash;
  const first = await rig.add(takeover === undefined ? {} : { killAt: point, killAfter: time });
  await rig.prepare(cases.FIELDS, REQUEST.consumerId);
  const limits = point.startsWith('sweep.') ? { limits: { ...SHORT_LEASE, ...SWEEP } } : {};
  const frozen = async (at: CrashCase, post?: Promise<StreamReader | null>) => {
    const { server: zombie, ...rest } = await cases.freezeAt(rig, at, request, {
      fault,
      ...limits,
      ...(post && { post }),
    });
    const [newest] = await rig.query('select node_id as id from nodes order by started_at desc limit 1');
    return { zombie, zombieId: String(newest?.id), ...rest };
  };
  if (takeover === undefined) return { ...(await frozen(crash)), other: first };
  const post = first.api.complete(request).catch(() => null);
  await within('death of the first node', WAIT_MS, first.gone);
  return { ...(await frozen({ ...crash, point: takeover, time: 1 }, post)), other: await rig.add() };
}

/** Frames that the node sent to its reader after the takeover. */
async function lateFrames(crash: CrashCase, post: Promise<StreamReader | null>, before: number): Promise<number> {
  const reader = crash.takeover === undefined ? await within('answer of the node', WAIT_MS, post) : null;
  if (reader === null) return 0;
  const isWhole = await within('end of the stream', WAIT_MS, reader.over);
  const stored = storedAt(crash);
  if (stored === 'nothing') {
    expectEqual('refusal', [reader.status, reader.headers['x-agent-run-admitted']], [503, 'false']);
    return 0;
  }
  // A run that had ended was taken over by no node: the rest of its stream is still true.
  if (stored === 'end') return 0;
  expectEqual('whole streams of a run that another node has', isWhole, false);
  return expectEqual('frames of the old attempt sent after the takeover', reader.frames.length - before, 0);
}

/** The run ends once, on another node. */
async function checkEnd(rig: Rig, crash: CrashCase, { api }: ServerProcess): Promise<void> {
  const stored = storedAt(crash);
  const { body: page } = await api.get(`${rig.path}/runs`);
  expectEqual('runs', page.items.length, stored === 'nothing' ? 0 : 1);
  if (stored === 'nothing') return;
  const { runId } = page.items[0];
  await until('end of the run', async () => (await api.get(`${rig.path}/runs/${runId}`)).body.completedAt !== null);
  const { run, charged } = await checkStory(rig, { api, runId, isCompacted: crash.point === 'sweep.after-commit' });
  const attempt = stored === 'end' ? 1 : crash.takeover === 'takeover.after-commit' ? 3 : 2;
  expectEqual('end of the run', [run.status, run.attempt], [cases.toOutcome(crash), attempt]);
  await expectAllowance(api, cases.MEMBER, charged.amount);
}

async function freezeAndContinue(crash: CrashCase, fault: string | null, limits: object) {
  await using files = await FileServer.start();
  await using rig = await Rig.open({ nodes: 0, limits, env: files.env });
  const exists =
    (sql: string, ...values: string[]) =>
    async () =>
      (await rig.query(sql, values)).length > 0;
  const attachments = [imageAttachment(makePng(2000)), ...cases.getAttachments(crash, files)];
  const calls = holdCalls(rig, crash);
  const { zombie, zombieId, other, post } = await stop(rig, crash, { ...REQUEST, attachments }, fault);
  await until('the node declared dead', exists('select 1 from nodes where node_id = $1 and dead = 1', zombieId));
  if (storedAt(crash) === 'unfinished') await until('a call of the new attempt', () => calls.held.length > 0);
  const isCancelled = exists(`select 1 from runs where status = 'cancelled' and attempt = 2`);
  if (storedAt(crash) === 'cancel') await until('the run cancelled by another node', isCancelled);
  calls.overAt = performance.now();
  const seen = (await Promise.race([post, sleep(0, null)]))?.frames.length ?? 0;
  const before = await settledDump(rig);
  const stored = [...before].filter((line) => /^file blobs\/[0-9a-f]{2}\//.test(line)).length;
  const attached = expectEqual('files of attachments', stored, 1 + cases.countFetches(crash));
  const known = (await rig.query('select node_id from nodes')).map((row) => String(row.node_id));
  zombie.unfreeze();
  const isNew = exists('select 1 from nodes where dead = 0 and not node_id = any($1::text[])', `{${known.join()}}`);
  await until('the node registered again', isNew);
  const frames = await lateFrames(crash, post, seen);
  await sleep(AFTER_MS);
  const changed = before.symmetricDifference(await dump(rig));
  for (const line of changed) process.stderr.write(`${line.slice(0, 300)}\n`);
  const rows = expectEqual('rows and files of the old attempt after the takeover', changed.size, 0);
  const late = expectEqual('calls of the old attempt after the takeover', calls.late, 0);
  for (const call of calls.held) await call.text('Anew.').then(() => call.end());
  await checkEnd(rig, crash, other);
  return { rows, frames, calls: late, files: attached };
}

test('a frozen node does nothing for runs that others took over', async () => {
  const fault = plantedFault();
  const further = cases.FURTHER_CASES.filter(({ script, takeover }) => script !== 'fail' && takeover === undefined);
  const all = [...cases.CRASH_CASES, ...cases.ACCOUNT_CASES, ...further];
  const chosen = all.slice(0, fault === null ? scale(3, all.length) : 1);
  const reached = new Set<WaitPoint>();
  const sum = { rows: 0, frames: 0, calls: 0, files: 0 };
  const labelled = chosen.map((crash) => [cases.toLabel(crash), crash] as const);
  await inLanes(LANES, labelled, async (crash) => {
    addTo(sum, await freezeAndContinue(crash, fault, scale<object>(SHORT_LEASE, {})));
    reached.add(crash.takeover ?? crash.point);
    process.stdout.write(`stood still at ${cases.toLabel(crash)}\n`);
  });
  count({ points: expectEqual('points', reached.size, scale(3, WAIT_POINTS.length)), stops: chosen.length, ...sum });
});
