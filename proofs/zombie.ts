import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ApiClient,
  FileServer,
  imageAttachment,
  type ModelCall,
  ModelController,
  type NodeGroup,
  pngOf,
  type ServerProcess,
  type StreamReader,
  WAIT_POINTS,
  type WaitPoint,
} from '@runwire/test-kit';
import { differences, dumpOf, imagesIn } from './support/database-dump.ts';
import { INTEGRATION, PATH, REQUEST } from './support/kill-scripts.ts';
import { expectEqual, expectNumber, type Proof, Shortfall, within } from './support/proof.ts';
import { LocklessProxy } from './support/rewriting-proxy.ts';
import { SHORT_LEASE, startNodes } from './support/start-nodes.ts';
import { say, ZOMBIE_CASES, type ZombieCase } from './support/zombie-cases.ts';

/*
 * A node stops itself by SIGSTOP at a wait point and stands still until the others have taken it for dead and its run
 * over; the model of the new attempt is held. Then it goes on by SIGCONT. What is stored, and what its readers were
 * sent, must be the same until the node has registered anew, and after.
 */

const WAIT_MS = 60_000;
const LOOK_MS = 50;
/** Long enough for whatever an old attempt would still have to say: it stores every 100 ms. */
const AFTER_MS = 2000;
const SETTLE_MS = 500;
const IMAGE = pngOf(2000);
/** Compacts what has ended, and again only when all has been compared: the node may do so once it has registered anew. */
const SWEEP = { logMs: 0, sweepMs: 12_000 };
const LANES = 4;
const SHORT_CASES = 3;

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = performance.now() + WAIT_MS; !(await holds()); await sleep(LOOK_MS)) {
    if (performance.now() > end) throw new Shortfall(`${what}: expected within ${WAIT_MS} ms, found later.`);
  }
}

async function prepare(api: ApiClient): Promise<void> {
  const allowances = { unit: 'runs', limit: 100, period: 'lifetime' };
  const body = { apiIntegrationId: INTEGRATION, name: 'Zombie', agency: 'test', allowances };
  expectNumber('status of the integration', (await api.post('/v2/integrations', body)).status, 201);
  expectNumber('status of the member', (await api.put(`${PATH}/members/${REQUEST.consumerId}`, {})).status, 201);
}

const nodeIdOf = async (api: ApiClient): Promise<string> =>
  (await api.get('/v2/nodes')).body.items.find((node: { self: boolean }) => node.self).nodeId;

/** The calls of the model: those up to an attempt say what the script says, later ones are held. */
class Calls {
  readonly held: ModelCall[] = [];
  /** Of attempts that were to be over: begun behind the takeover. One whose connection was open before was begun before. */
  late = 0;
  overAt = Number.POSITIVE_INFINITY;

  constructor(model: ModelController, script: ZombieCase['script'], lastAttempt: number) {
    model.onCall = (call) => {
      if (call.request.attempt > lastAttempt) this.held.push(call);
      else if (call.connectedAt > this.overAt) this.late += 1;
      else if (this.overAt < performance.now()) return;
      else say(script, call).catch(() => {});
    };
  }
}

interface Stage {
  readonly group: NodeGroup;
  readonly zombie: ServerProcess;
  readonly zombieId: string;
  readonly other: ServerProcess;
  /** Of the run's first post. */
  readonly post: Promise<StreamReader | null>;
  readonly calls: Calls;
}

/** Brings a node to its point; it stands still there when this resolves. */
async function stage(
  stop: ZombieCase,
  group: NodeGroup,
  model: ModelController,
  attachments: readonly object[],
  fault: string | null,
  proxy: string,
): Promise<Stage> {
  const { point, time, by } = stop;
  // A taker that stands still before its commit has begun no attempt.
  const calls = new Calls(model, stop.script, point === 'takeover.after-commit' ? 2 : 1);
  const own = {
    stopAt: { point, time },
    ...(by === 'sweep' ? { limits: { ...group.limits, ...SWEEP } } : {}),
    ...(fault === null ? {} : { env: { DATABASE_URL: proxy } }),
  };
  const first = await group.add(by === 'takeover' ? { killAt: 'flush.after-commit', killAfter: 2 } : {});
  await prepare(first.api);
  // Stored by the node that is to stand still, or by the one whose run it took.
  const request = attachments.length === 0 ? REQUEST : { ...REQUEST, attachments };
  const begin = async (node: ServerProcess) => node.api.complete(request).catch(() => null);
  if (by === 'takeover') {
    const post = begin(first);
    await within('death of the first node', WAIT_MS, first.gone);
    const zombie = await group.add(own);
    const zombieId = await nodeIdOf(zombie.api);
    zombie.arm();
    await until(`standing still at ${point}`, () => zombie.isStill);
    return { group, zombie, zombieId, other: await group.add(), post, calls };
  }
  const zombie = await group.add(own);
  const zombieId = await nodeIdOf(zombie.api);
  if (by === 'change' || by === 'cancel') {
    const reader = await within('head of the stream', WAIT_MS, zombie.api.complete(request));
    await within('first word', WAIT_MS, reader.untilText('One '));
    zombie.arm();
    const runId = reader.headers['x-run-id'];
    if (by === 'cancel') void zombie.api.post(`${PATH}/runs/${runId}/cancel`).catch(() => {});
    else void zombie.api.put(`${PATH}/members/another`, {}).catch(() => {});
    await until(`standing still at ${point}`, () => zombie.isStill);
    return { group, zombie, zombieId, other: first, post: Promise.resolve(reader), calls };
  }
  zombie.arm();
  const post = begin(zombie);
  await until(`standing still at ${point}`, () => zombie.isStill);
  return { group, zombie, zombieId, other: first, post, calls };
}

const isDead = async ({ group, zombieId }: Stage) =>
  (await group.query(`select 1 from nodes where node_id = '${zombieId}' and dead = 1`)).length === 1;

/** Until the others have done all that they do before the model of the new attempt is heard. */
async function untilTaken(stop: ZombieCase, it: Stage): Promise<void> {
  await until('the node taken for dead', () => isDead(it));
  if (stop.stored === 'unfinished') await until('a call of the new attempt', () => it.calls.held.length > 0);
  if (stop.stored === 'cancel') {
    const ended = `select 1 from runs where status = 'cancelled' and attempt = 2`;
    await until('the run cancelled by another node', async () => (await it.group.query(ended)).length === 1);
  }
}

/** What was sent to the reader of the node that stood still. */
async function checkReader(stop: ZombieCase, it: Stage, before: number): Promise<number> {
  if (stop.by === 'takeover') return 0;
  const reader = await within('answer of the node', WAIT_MS, it.post);
  if (reader === null) return 0;
  const whole = await within('end of the stream', WAIT_MS, reader.over);
  if (stop.stored === 'nothing') {
    expectEqual('refusal', [reader.status, reader.headers['x-agent-run-admitted']], [503, 'false']);
    return 0;
  }
  // A run that had ended when the node stood still was taken by nobody: the rest of it is as true as before.
  if (stop.stored === 'end') return 0;
  expectEqual('whole streams of a run that another has', whole, false);
  return expectNumber('frames of the old attempt sent after the takeover', reader.frames.length - before, 0);
}

async function checkEnd(stop: ZombieCase, it: Stage): Promise<void> {
  const { api } = it.other;
  for (const call of it.calls.held) {
    await call.text('Anew.');
    await call.end();
  }
  const { body: page } = await api.get(`${PATH}/runs`);
  expectNumber('runs', page.items.length, stop.stored === 'nothing' ? 0 : 1);
  if (page.items.length === 0) return;
  const run = async () => (await api.get(`${PATH}/runs/${page.items[0].runId}`)).body;
  await until('end of the run', async () => (await run()).completedAt !== null);
  const { status, attempt, message, usage } = await run();
  const expected = stop.stored === 'cancel' ? 'cancelled' : 'completed';
  const last = stop.stored === 'end' ? 1 : stop.by === 'takeover' ? 3 : 2;
  // A taker that stood still before its commit had taken nothing.
  expectEqual('end of the run', [status, attempt], [expected, stop.point === 'takeover.before-commit' ? 2 : last]);
  const replay = await api.events(page.items[0].runId, null, INTEGRATION);
  await within('end of the replay', WAIT_MS, replay.over);
  if (stop.by !== 'sweep') expectEqual('text of the deltas', replay.answer, message);
  const { body: records } = await api.get(`${PATH}/usage`);
  expectEqual('usage records', [records.items.length, records.items[0].usage], [1, usage]);
  const { body: member } = await api.get(`${PATH}/members/${REQUEST.consumerId}`);
  expectEqual('allowance', [member.allowance.used, member.allowance.reserved], [1, 0]);
}

interface Counts {
  readonly rows: number;
  readonly frames: number;
  readonly calls: number;
  readonly files: number;
}

/** The new attempt waits for its model, and what it had to say before is stored after a while. */
async function settledDump(group: NodeGroup): Promise<string[]> {
  for (let before = await dumpOf(group); ; ) {
    await sleep(SETTLE_MS);
    const again = await dumpOf(group);
    if (differences(before, again).length === 0) return again;
    before = again;
  }
}

async function standStill(stop: ZombieCase, fault: string | null, short: boolean): Promise<Counts> {
  await using model = await ModelController.start();
  await using fileServer = stop.hasUrl ? await FileServer.start() : null;
  const env = fileServer?.env ?? {};
  const limits = short ? SHORT_LEASE : {};
  await using group = await startNodes(0, null, { controllerPort: model.port, limits, env });
  await using proxy = await LocklessProxy.start(group.databaseUrl);
  const attachments = [
    ...(stop.hasImage ? [imageAttachment(IMAGE)] : []),
    ...(fileServer === null ? [] : [{ type: 'input_file', file_url: fileServer.serve('/attached.txt', 'Attached.') }]),
  ];
  const it = await stage(stop, group, model, attachments, fault, proxy.url);
  await untilTaken(stop, it);
  it.calls.overAt = performance.now();
  const reader = await Promise.race([it.post, sleep(0, null)]);
  const seen = reader?.frames.length ?? 0;
  const before = await settledDump(group);
  const files = expectNumber('files of attachments', imagesIn(before), stop.files);
  const known = new Set((await group.query('select node_id from nodes')).map((row) => row.node_id));
  it.zombie.goOn();
  await until('the node registered anew', async () =>
    (await group.query('select node_id from nodes where dead = 0')).some((row) => !known.has(row.node_id)),
  );
  const frames = await checkReader(stop, it, seen);
  await sleep(AFTER_MS);
  const changed = differences(before, await dumpOf(group));
  if (changed.length > 0) process.stderr.write(`${changed.map((line) => line.slice(0, 300)).join('\n')}\n`);
  const rows = expectNumber('rows and files of the old attempt after the takeover', changed.length, 0);
  const calls = expectNumber('calls of the old attempt after the takeover', it.calls.late, 0);
  await checkEnd(stop, it);
  return { rows, frames, calls, files };
}

export const proof: Proof = {
  name: 'zombie',
  minutes: 4,
  faults: {
    'no-share-lock': /rows and files of the old attempt after the takeover: expected 0, found 1\.$/m,
  },
  async run({ fault, scale }) {
    const short = scale(true, false);
    // The fault shows where a transaction is open that holds no row which its taker needs.
    const queue = fault !== null ? ZOMBIE_CASES.slice(0, 1) : ZOMBIE_CASES.slice(0, short ? SHORT_CASES : undefined);
    const stops = queue.length;
    const reached = new Set<WaitPoint>();
    const sum = { rows: 0, frames: 0, calls: 0, files: 0 };
    let failed = false;
    const lane = async () => {
      for (let stop = queue.shift(); stop !== undefined && !failed; stop = queue.shift()) {
        const label = `${stop.point} (${stop.script}, by ${stop.by}, time ${stop.time})`;
        try {
          const counts = await standStill(stop, fault, short);
          for (const key of Object.keys(sum) as (keyof Counts)[]) sum[key] += counts[key];
          reached.add(stop.point);
          process.stdout.write(`stood still at ${label}\n`);
        } catch (error) {
          failed = true;
          throw error instanceof Shortfall ? new Shortfall(`${label}: ${error.message}`) : error;
        }
      }
    };
    // All lanes come to rest before the first shortfall is told, so that no process is left behind.
    const lanes = await Promise.allSettled(Array.from({ length: LANES }, lane));
    for (const outcome of lanes) if (outcome.status === 'rejected') throw outcome.reason;
    if (!short) expectNumber('points', reached.size, WAIT_POINTS.length);
    return { points: reached.size, stops, ...sum };
  },
};
