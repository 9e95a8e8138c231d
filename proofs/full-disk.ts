import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  ApiClient,
  FileServer,
  freePort,
  imageAttachment,
  ModelController,
  pngOf,
  type ServerProcess,
  TEST_API_KEY,
  UPLOAD_POINTS,
  type UploadPoint,
  WAIT_POINTS,
  type WaitPoint,
} from '@runwire/test-kit';
import { Claims } from './support/claims.ts';
import { actFor, bodyOf, checkRun, play, prepareUpload, type Scene } from './support/full-disk-acts.ts';
import { SWEEP_AT_ONCE } from './support/kill-scripts.ts';
import { expectAtLeast, expectEqual, expectNumber, type Proof, Shortfall, within } from './support/proof.ts';
import { SizedDisk } from './support/sized-disk.ts';
import { startServer } from './support/start-server.ts';
import { Strace } from './support/strace.ts';

/*
 * A server runs on a small disk of its own. At each wait point the server's own thread fills the disk to the last block; then
 * callers are refused, a checkpoint fails, and the disk is freed. One process lives through all of it.
 */

const WAIT_MS = 60_000;
/** A checkpoint follows a write within 5 s; then it fails, or there was nothing to copy. */
const CHECKPOINT_MS = 7000;
const SHORT_POINTS: readonly Point[] = ['admit.before-commit', 'step.before-commit', 'end.before-commit'];
const cli = join(import.meta.dirname, '../packages/cli/src/main.ts');

type Point = WaitPoint | UploadPoint;

/** The counts of all parts of the proof. */
class Counts {
  filled = 0;
  runs = 0;
  wrong = 0;
  refused = 0;
  starts = 0;
  failedSyncs = 0;
  checkpointsFailed = 0;
}

async function until(what: string, holds: () => Promise<boolean> | boolean): Promise<void> {
  await within(
    what,
    WAIT_MS,
    (async () => {
      while (!(await holds())) await sleep(50);
    })(),
  );
}

/** Resolves to null while no server listens. */
const statusOf = async (url: string, path: string) => (await fetch(url + path).catch(() => null))?.status ?? null;

const isReady = (url: string, status: number) => async () => (await statusOf(url, '/readyz')) === status;

async function expectAlive(server: ServerProcess): Promise<void> {
  const isGone = await Promise.race([server.gone.then(() => true), sleep(0, false)]);
  expectNumber('died', Number(isGone), 0);
}

/** Rejects as soon as the process ends, so that the proof reports that and not a timeout. */
async function whileAlive<T>(server: ServerProcess, work: Promise<T>): Promise<T> {
  const died = server.gone.then(() => {
    throw new Shortfall(`died: expected 0, found 1. ${server.said.slice(-2000)}`);
  });
  for (const loser of [died, work]) loser.catch(() => {});
  return Promise.race([work, died]);
}

const failuresOf = ({ said }: ServerProcess) => said.split('a checkpoint failed').length - 1;

/** Checks what every caller gets while the disk is full. */
async function expectRefusals({ server, claims }: Scene, id: string, upload: () => Promise<number>): Promise<number> {
  const { api, url } = server;
  await until('readiness 503 on a full disk', isReady(url, 503));
  expectNumber('status of /healthz on a full disk', (await statusOf(url, '/healthz')) ?? 0, 200);
  const admitted = await claims.post(api, bodyOf(`${id}-late`), `${id}-late`);
  expectEqual('whether a run is admitted on a full disk', admitted !== null, false);
  const image = { ...bodyOf(`${id}-image`), attachments: [imageAttachment(pngOf(70_000))] };
  expectEqual('whether an image is taken on a full disk', await claims.post(api, image, `${id}-image`), null);
  expectNumber('status of an upload on a full disk', await upload(), 503);
  return 3;
}

async function fillAt(scene: Scene, disk: SizedDisk, point: Point, counts: Counts): Promise<void> {
  const { server, claims } = scene;
  const id = `${point.replace('.', '-')}-${counts.filled}`;
  const { send } = await prepareUpload(server, `${id}-late`);
  const before = failuresOf(server);
  server.fillAt(point);
  const finish = await actFor(point)(scene, id);
  await until(`a disk filled at ${point}`, () => disk.isFilled);
  disk.fill();
  counts.filled += 1;
  counts.refused += await expectRefusals(scene, id, send);
  const deadline = performance.now() + CHECKPOINT_MS;
  while (failuresOf(server) === before && performance.now() < deadline) await sleep(50);
  counts.checkpointsFailed += failuresOf(server) - before;
  await expectAlive(server);
  disk.free();
  await until('readiness 200 with space', isReady(server.url, 200));
  await finish();
  const late = await claims.post(server.api, bodyOf(`${id}-next`), `${id}-next`);
  if (late === null) throw new Shortfall('runs admitted with space: expected 1, found 0.');
  await checkRun(scene, late, 'completed', 'One two.');
}

/** Checks that no header contradicts what is stored. */
async function checkClaims({ server: { api }, claims }: Scene, counts: Counts): Promise<void> {
  const stored = new Set<string>();
  for (const id of claims.ids) {
    const { status } = await api.get(`/v2/integrations/demo/chat_status?usageRequestId=${encodeURIComponent(id)}`);
    if (status === 200) stored.add(id);
  }
  const { falseTrue, falseFalse } = claims.wrong('', stored);
  counts.wrong += falseTrue + falseFalse + expectNumber('answers without the header', claims.count('none'), 0);
  counts.runs += claims.count('true');
}

interface Stage extends AsyncDisposable {
  readonly disk: SizedDisk;
  readonly scene: Scene;
  readonly model: ModelController;
  readonly start: (more?: Partial<Parameters<typeof startServer>[1]>) => Promise<ServerProcess>;
}

async function stage(fault: string | null, compacts = false): Promise<Stage> {
  await using stack = new AsyncDisposableStack();
  const disk = stack.use(SizedDisk.mount());
  const model = stack.use(await ModelController.start());
  model.onCall = (call) => void play(call).catch(() => {});
  const files = stack.use(await FileServer.start());
  const over = new AbortController();
  // This proof is about the embedded store, also if other proofs run on PostgreSQL.
  const env = { ...files.env, DATABASE_URL: '', RUNWIRE_LOG_LEVEL: 'error' };
  const limits = compacts ? SWEEP_AT_ONCE : {};
  const options = { dataDir: disk.dataDir, controllerPort: model.port, limits };
  const start: Stage['start'] = (more = {}) =>
    startServer(fault, { ...options, fill: { file: disk.file }, ...more, env: { ...env, ...more.env } });
  const server = stack.use(await start());
  stack.defer(() => over.abort());
  await server.api.patch('/v2/integrations/demo', { agency: 'test' });
  await server.api.put('/v2/integrations/demo/members/ann', {});
  const owned = stack.move();
  const scene = { server, claims: new Claims(), files, compacts, over: over.signal };
  return { disk, scene, model, start, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** Runs all points in one process, one after the other. */
async function live(points: readonly Point[], fault: string | null, counts: Counts): Promise<void> {
  const compacts = points.some((point) => point.startsWith('sweep.'));
  await using own = await stage(fault, compacts);
  const { scene, disk } = own;
  for (const point of points) await whileAlive(scene.server, fillAt(scene, disk, point, counts));
  await checkClaims(scene, counts);
}

/** A kill leaves a run unfinished. The start that takes it over fills its disk at the point. */
async function startAt(point: WaitPoint, counts: Counts): Promise<void> {
  await using own = await stage(null);
  const { scene, disk, start } = own;
  const reader = await scene.claims.post(scene.server.api, bodyOf(point, 'wait'), point);
  if (reader === null) throw new Shortfall('runs admitted before a kill: expected 1, found 0.');
  await within('first word', WAIT_MS, reader.untilText('One '));
  await scene.server.kill('SIGKILL');
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const starting = start({ env: { PORT: String(port) }, fill: { file: disk.file, at: point } });
  starting.catch(() => {});
  await until(`a disk filled at ${point}`, () => disk.isFilled);
  disk.fill();
  counts.filled += 1;
  await expectWaiting(url, counts);
  disk.free();
  await using server = await within('a start with space', WAIT_MS, starting);
  await until('readiness 200 with space', isReady(url, 200));
  const after = { ...scene, server };
  await checkRun(after, reader, 'completed', 'One two.');
  await checkClaims(after, counts);
}

/** A failed sync must end the process: what is on the disk is unknown then. The next start recovers. */
async function failSync(counts: Counts): Promise<void> {
  await using own = await stage(null);
  const { scene, start } = own;
  const before = await scene.claims.post(scene.server.api, bodyOf('synced'), 'synced');
  if (before === null) throw new Shortfall('runs admitted before a failed sync: expected 1, found 0.');
  await checkRun(scene, before, 'completed', 'One two.');
  const body = bodyOf('unsynced');
  {
    await using _ = await Strace.attach(scene.server.pid, 'fsync,fdatasync:error=EIO');
    const answer = await scene.server.api.complete({ ...body, usageRequestId: 'unsynced' }).catch(() => null);
    expectEqual('answer to a request whose sync failed', answer?.headers['x-agent-run-admitted'] ?? null, null);
    await within('the end of a process whose sync failed', WAIT_MS, scene.server.gone);
  }
  await using server = await start();
  const after = { ...scene, server };
  const again = await scene.claims.post(server.api, body, 'unsynced');
  if (again === null) throw new Shortfall('runs admitted after a failed sync: expected 1, found 0.');
  await checkRun(after, again, 'completed', 'One two.');
  await checkClaims(after, counts);
  counts.failedSyncs += 1;
}

/** Checks that it listens, is alive and not ready, and refuses with the header. */
async function expectWaiting(url: string, counts: Counts): Promise<void> {
  await until('readiness 503 of a start on a full disk', isReady(url, 503));
  await until('health 200 of a start on a full disk', async () => (await statusOf(url, '/healthz')) === 200);
  const refused = await new ApiClient(url, TEST_API_KEY).complete({});
  expectEqual(
    'answer to a completion of a start on a full disk',
    [refused.status, refused.headers['x-agent-run-admitted']],
    [503, 'false'],
  );
  counts.refused += 1;
}

/** Starts `runwire serve` as a person does: first on an empty folder, then on the installation that it made. */
async function startOnFull(rounds: number, counts: Counts): Promise<void> {
  using disk = SizedDisk.mount();
  for (let round = 0; round < rounds; round += 1) {
    disk.fill();
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const env = {
      PATH: process.env.PATH ?? '',
      ...(process.env.NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE }),
      PORT: String(port),
      RUNWIRE_DATA_DIR: disk.dataDir,
      RUNWIRE_API_KEY: TEST_API_KEY,
      RUNWIRE_LOG_LEVEL: 'silent',
    };
    const child = spawn(process.execPath, ['-C', 'runwire', cli, 'serve'], { env, stdio: 'ignore' });
    try {
      await expectWaiting(url, counts);
      disk.free();
      await until('readiness 200 with space', isReady(url, 200));
      expectNumber(
        'status of a completion with space',
        (await new ApiClient(url, TEST_API_KEY).complete({})).status,
        200,
      );
      expectEqual('whether it is the same process', child.exitCode, null);
    } finally {
      await ended(child);
    }
    counts.starts += 1;
  }
}

async function ended(child: ChildProcess): Promise<void> {
  const over = new Promise((resolve) => child.once('exit', resolve));
  if (child.exitCode !== null) return;
  child.kill('SIGTERM');
  await over;
}

export const proof: Proof = {
  name: 'full-disk',
  minutes: 5,
  faults: {
    'die-on-checkpoint': /^died: expected 0, found 1\./m,
  },
  async run({ fault, scale }) {
    const short = scale(true, false);
    const all: readonly Point[] = [...WAIT_POINTS, ...UPLOAD_POINTS];
    const points = short ? SHORT_POINTS : all;
    const isIn = (name: string) => (point: Point) => point.startsWith(name);
    const [sweeps, takeovers] = [points.filter(isIn('sweep.')), points.filter(isIn('takeover.'))];
    const counts = new Counts();
    const rest = points.filter((point) => !sweeps.includes(point) && !takeovers.includes(point));
    await live(rest, fault, counts);
    if (sweeps.length > 0) await live(sweeps, fault, counts);
    for (const point of takeovers) await startAt(point as WaitPoint, counts);
    if (fault === null) await startOnFull(short ? 1 : 2, counts);
    if (!short) await failSync(counts);
    return {
      points: points.length,
      filled: expectNumber('filled', counts.filled, points.length),
      runs: expectAtLeast('runs', counts.runs, points.length),
      refused: counts.refused,
      checkpoints_failed: expectAtLeast('failed checkpoints', counts.checkpointsFailed, 1),
      starts: counts.starts,
      failed_syncs: counts.failedSyncs,
      lost: 0,
      died: 0,
      wrong_header: counts.wrong,
    };
  },
};
