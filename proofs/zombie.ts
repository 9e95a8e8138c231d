import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  closeTogether,
  FileServer,
  imageAttachment,
  type ModelCall,
  pngOf,
  type ServerProcess,
  type StreamReader,
  WAIT_POINTS,
  type WaitPoint,
} from '@runwire/test-kit';
import {
  act,
  CRASH_CASES,
  type CrashCase,
  FIELDS,
  FURTHER_CASES,
  INTEGRATION,
  labelOf,
  outcomeOf,
  PATH,
  REQUEST,
  say,
  storedAt,
} from './support/crash-cases.ts';
import { inLanes } from './support/lanes.ts';
import { addTo, expectEqual, expectNumber, type Proof, type Scale, until, WAIT_MS, within } from './support/proof.ts';
import { Rig, SHORT_LEASE } from './support/rig.ts';
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

/** The fault: transactions do not lock the row of their node, and may stay open for ever. Texts keep their length. */
const weakened = (bytes: Buffer) =>
  bytes
    .toString('latin1')
    .replaceAll(' for share', ' '.repeat(10))
    .replaceAll('idle_in_transaction_session_timeout\x003000\x00', 'idle_in_transaction_session_timeout\x000000\x00');

/** A proxy in front of the database that plants the fault. */
async function weakProxy(databaseUrl: string) {
  const url = new URL(databaseUrl);
  const target = { port: Number(url.port), host: url.hostname, noDelay: true };
  const server = createServer({ noDelay: true }, (client) => {
    const database = connect(target);
    closeTogether(client, database, new Set());
    client.on('data', (bytes: Buffer) => database.write(weakened(bytes), 'latin1'));
    database.on('data', (bytes: Buffer) => client.write(bytes));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url.port = String((server.address() as { port: number }).port);
  return { url: url.href, [Symbol.dispose]: () => void server.close() };
}

/** Returns every row and every file as lines that can be compared. */
async function dump(rig: Rig): Promise<string[]> {
  const rows = TABLES.map((table) => `select '${table} ' || row_to_json(t)::text as line from ${table} t`);
  const lines = (await rig.query(rows.join(' union all '))).map(({ line }) => String(line));
  for (const entry of readdirSync(rig.dataDir, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) lines.push(`file ${relative(rig.dataDir, path)} ${hash('sha256', readFileSync(path))}`);
  }
  return lines;
}

const differences = (before: readonly string[], after: readonly string[]) => [
  ...new Set(before).symmetricDifference(new Set(after)),
];

/** The new attempt waits for its model, and stores what it has until then. */
async function settledDump(rig: Rig): Promise<string[]> {
  for (let before = await dump(rig); ; ) {
    await sleep(SETTLE_MS);
    const again = await dump(rig);
    if (differences(before, again).length === 0) return again;
    before = again;
  }
}

/** Calls of attempts up to the last one of the old node follow the script; later ones are held. */
class Calls {
  readonly held: ModelCall[] = [];
  /** Calls of an old attempt that connected after the takeover. */
  late = 0;
  overAt = Number.POSITIVE_INFINITY;

  constructor({ model }: Rig, { script, takeover }: CrashCase) {
    // A node that stops before it commits the takeover has begun no attempt.
    const last = takeover === 'takeover.after-commit' ? 2 : 1;
    model.onCall = (call) => {
      if (call.request.attempt > last) this.held.push(call);
      else if (call.connectedAt > this.overAt) this.late += 1;
      else if (this.overAt >= performance.now()) say(script, call).catch(() => {});
    };
  }
}

interface Stage {
  readonly zombie: ServerProcess;
  readonly zombieId: string;
  readonly other: ServerProcess;
  readonly post: Promise<StreamReader | null>;
}

/** Resolves when a node is frozen at its point. */
async function stop(rig: Rig, crash: CrashCase, request: typeof REQUEST, weakUrl: string | null): Promise<Stage> {
  const { script, takeover, point, time } = crash;
  const stopAt = takeover === undefined ? { point, time } : { point: takeover, time: 1 };
  const first = await rig.add(takeover === undefined ? {} : { killAt: crash.point, killAfter: time });
  await rig.prepare(FIELDS, REQUEST.consumerId);
  const begin = (node: ServerProcess) => node.api.complete(request).catch(() => null);
  const early = takeover === undefined ? null : begin(first);
  if (early !== null) await within('death of the first node', WAIT_MS, first.gone);
  const limits = point.startsWith('sweep.') ? { limits: { ...SHORT_LEASE, ...SWEEP } } : {};
  const zombie = await rig.add({ stopAt, ...limits, ...(weakUrl === null ? {} : { env: { DATABASE_URL: weakUrl } }) });
  const nodes: { self: boolean; nodeId: string }[] = (await zombie.api.get('/v2/nodes')).body.items;
  const zombieId = nodes.find(({ self }) => self)?.nodeId ?? '';
  const isLate = script === 'cancel' || script === 'change';
  if (!isLate) zombie.arm();
  const post = early ?? begin(zombie);
  if (isLate) {
    const reader = await within('head of the stream', WAIT_MS, post);
    await within('first word', WAIT_MS, reader?.untilText('One ') ?? Promise.reject(new Error('No head.')));
    zombie.arm();
    if (reader !== null) act(script, zombie.api, reader).catch(() => {});
  }
  await until(`standing still at ${stopAt.point}`, () => zombie.isStill);
  return { zombie, zombieId, other: takeover === undefined ? first : await rig.add(), post };
}

/** Frames that the node sent to its reader after the takeover. */
async function lateFrames(crash: CrashCase, post: Stage['post'], before: number): Promise<number> {
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
  return expectNumber('frames of the old attempt sent after the takeover', reader.frames.length - before, 0);
}

/** The run ends once, on another node. */
async function checkEnd(rig: Rig, crash: CrashCase, { other: { api } }: Stage, calls: Calls): Promise<void> {
  for (const call of calls.held) {
    await call.text('Anew.');
    await call.end();
  }
  const stored = storedAt(crash);
  const { body: page } = await api.get(`${PATH}/runs`);
  expectNumber('runs', page.items.length, stored === 'nothing' ? 0 : 1);
  if (stored === 'nothing') return;
  const { runId } = page.items[0];
  await until('end of the run', async () => (await api.get(`${PATH}/runs/${runId}`)).body.completedAt !== null);
  const isCompacted = crash.point === 'sweep.after-commit';
  const { run, charged } = await checkStory(api, { integration: INTEGRATION, runId, model: rig.model, isCompacted });
  const attempt = stored === 'end' ? 1 : crash.takeover === 'takeover.after-commit' ? 3 : 2;
  expectEqual('end of the run', [run.status, run.attempt], [outcomeOf(crash), attempt]);
  await expectAllowance(api, `${PATH}/members/${REQUEST.consumerId}`, charged.amount);
}

async function freezeAndContinue(crash: CrashCase, fault: string | null, scale: Scale) {
  await using files = await FileServer.start();
  await using rig = await Rig.open({ nodes: 0, limits: scale<object>(SHORT_LEASE, {}), env: files.env });
  using proxy = fault === null ? null : await weakProxy(rig.databaseUrl);
  const hasUrl = crash.point.startsWith('attachment.');
  const url = { type: 'input_file', file_url: files.serve('/attached.txt', 'Attached.') };
  const attachments = [imageAttachment(pngOf(2000)), ...(hasUrl ? [url] : [])];
  const calls = new Calls(rig, crash);
  const stage = await stop(rig, crash, { ...REQUEST, attachments } as typeof REQUEST, proxy?.url ?? null);
  const isDead = `select 1 from nodes where node_id = $1 and dead = 1`;
  await until('the node declared dead', async () => (await rig.query(isDead, [stage.zombieId])).length === 1);
  if (storedAt(crash) === 'unfinished') await until('a call of the new attempt', () => calls.held.length > 0);
  if (storedAt(crash) === 'cancel') {
    const isCancelled = `select 1 from runs where status = 'cancelled' and attempt = 2`;
    await until('the run cancelled by another node', async () => (await rig.query(isCancelled)).length === 1);
  }
  calls.overAt = performance.now();
  const seen = (await Promise.race([stage.post, sleep(0, null)]))?.frames.length ?? 0;
  const before = await settledDump(rig);
  // If a file was stored and not recorded, the other node fetches it again, so there is one more.
  const fetched = hasUrl ? (crash.point === 'attachment.before-commit' ? 2 : 1) : 0;
  const stored = before.filter((line) => /^file blobs\/[0-9a-f]{2}\//.test(line)).length;
  const attached = expectNumber('files of attachments', stored, 1 + fetched);
  const known = new Set((await rig.query('select node_id from nodes')).map((row) => row.node_id));
  stage.zombie.unfreeze();
  await until('the node registered again', async () =>
    (await rig.query('select node_id from nodes where dead = 0')).some((row) => !known.has(row.node_id)),
  );
  const frames = await lateFrames(crash, stage.post, seen);
  await sleep(AFTER_MS);
  const changed = differences(before, await dump(rig));
  for (const line of changed) process.stderr.write(`${line.slice(0, 300)}\n`);
  const rows = expectNumber('rows and files of the old attempt after the takeover', changed.length, 0);
  const late = expectNumber('calls of the old attempt after the takeover', calls.late, 0);
  await checkEnd(rig, crash, stage, calls);
  return { rows, frames, calls: late, files: attached };
}

const ACCOUNTS: readonly CrashCase[] = [
  { point: 'account.before-commit', script: 'change', time: 1 },
  { point: 'account.after-commit', script: 'change', time: 1 },
];

export const proof: Proof = {
  name: 'zombie',
  minutes: 4,
  // The fault shows in a transaction that is open and holds no row which its taker needs: a flush, the first case.
  faults: { 'no-share-lock': /rows and files of the old attempt after the takeover: expected 0, found 1\.$/m },
  async run({ fault, scale }) {
    const further = FURTHER_CASES.filter(({ script, takeover }) => script !== 'fail' && takeover === undefined);
    const all = [...CRASH_CASES, ...ACCOUNTS, ...further];
    const cases = all.slice(0, fault === null ? scale(3, all.length) : 1);
    const reached = new Set<WaitPoint>();
    const sum = { rows: 0, frames: 0, calls: 0, files: 0 };
    const labelled = cases.map((crash) => [labelOf(crash), crash] as const);
    await inLanes(LANES, labelled, async (crash) => {
      addTo(sum, await freezeAndContinue(crash, fault, scale));
      reached.add(crash.takeover ?? crash.point);
      process.stdout.write(`stood still at ${labelOf(crash)}\n`);
    });
    return { points: expectNumber('points', reached.size, scale(3, WAIT_POINTS.length)), stops: cases.length, ...sum };
  },
};
