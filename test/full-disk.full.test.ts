import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  ApiClient,
  FILE_POINTS,
  FileServer,
  fillDisk,
  freePort,
  imageAttachment,
  type ModelCall,
  makePng,
  Rig,
  type ServerProcess,
  type StreamReader,
  TEST_API_KEY,
  toAnswer,
  UPLOAD_POINTS,
  type UploadPoint,
  WAIT_POINTS,
  type WaitPoint,
} from '@runwire/test-kit';
import { count, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import { addTo, expectAtLeast, expectEqual, Shortfall, until, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import { Claims } from './support/claims.ts';
import { CliServer } from './support/cli-process.ts';
import { COMPACT } from './support/crash-cases.ts';
import { SmallDisk } from './support/small-disk.ts';
import { checkStory } from './support/story.ts';
import { attachStrace } from './support/strace.ts';
import { sendForm, signing } from './support/uploads.ts';

/*
 * A server runs on a small disk of its own. At each wait point the server's own thread fills the disk to the last block; then
 * callers are refused, a checkpoint fails, and the disk is freed. One process lives through all of it.
 */

/** All points together store about 16 MiB. */
const DISK_SIZE = '64m';
/** A checkpoint follows a write within 5 s; then it fails, or there was nothing to copy. */
const CHECKPOINT_MS = 7000;
const DEMO = '/v2/integrations/demo';
const MEMBER = `${DEMO}/members/ann`;
/** Larger than what a database has free in its pages: a checkpoint after it needs space. */
const MESSAGE_BYTES = 96 * 1024;
const FILE_BYTES = 300_000;
/** Metadata of a member may have 16 KiB. */
const METADATA_CHARS = 12_000;

type Point = WaitPoint | UploadPoint;

/** Each message is large and new, and its first word names what the model does. */
const text = (script: string) => `${script} ${randomBytes(MESSAGE_BYTES / 2).toString('hex')}`;
const getBody = (chatId: string, script = 'speak') => ({ consumerId: 'ann', chatId, message: text(script) });

/** The model sends two words. The script can ask for a tool before them, a pause between them, or no end at all. */
async function play(call: ModelCall): Promise<void> {
  const { prompt, runId, attempt } = call.request;
  const script = prompt.map((item) => (item.kind === 'user' ? item.text : '')).join('');
  if (script.startsWith('useTool') && !prompt.some(({ kind }) => kind === 'tool_output')) {
    await call.toolCall(`call-${runId}`, 'echo', '{"a":1}');
    return call.end();
  }
  await call.text('One ');
  if (script.startsWith('cancel') || (script.startsWith('wait') && attempt === 1)) return;
  // After failed flushes the next one follows within 1 s.
  await sleep(script.startsWith('talk') ? 1500 : 0);
  await call.text('two.');
  await call.end();
}

/** A small disk with a data folder, and a file that fills it. */
function mountDisk() {
  const disk = new SmallDisk('full-disk', DISK_SIZE);
  const [dataDir, file] = [join(disk.folder, 'data'), join(disk.folder, 'fill')];
  mkdirSync(dataDir);
  return {
    dataDir,
    file,
    /** Resolves after a server has filled the disk at the point. Then takes the blocks that the server freed since then. */
    filledAt: async (point: Point) => {
      await until(`a disk filled at ${point}`, () => existsSync(file));
      fillDisk(file);
    },
    free: () => rmSync(file, { force: true }),
    [Symbol.dispose]: () => disk[Symbol.dispose](),
  };
}

/** Resolves to null while no server listens. */
const getStatus = async (url: string, path: string) => (await fetch(url + path).catch(() => null))?.status ?? null;
const untilStatus = (url: string, path: string, status: number) =>
  until(`${path} ${status}`, async () => (await getStatus(url, path)) === status);
const getFailures = ({ output }: ServerProcess) => output.split('a checkpoint failed').length - 1;

const NO_COUNTS = {
  filled: 0,
  runs: 0,
  refused: 0,
  checkpoints_failed: 0,
  starts: 0,
  failed_syncs: 0,
  wrong_header: 0,
};

/** A server on its small disk, its callers and the proof's counts. */
async function openStage(fault: string | null, isCompacted = false) {
  await using building = new AsyncDisposableStack();
  const disk = building.use(mountDisk());
  const files = building.use(await FileServer.start());
  // This proof is about the embedded store, also if other proofs run on PostgreSQL.
  const env = { ...files.env, DATABASE_URL: '', RUNWIRE_LOG_LEVEL: 'error', RUNWIRE_DATA_DIR: disk.dataDir };
  const rig = building.use(
    await Rig.start({ fault, limits: isCompacted ? COMPACT : {}, env, fill: { file: disk.file } }),
  );
  rig.model.onCall = (call) => void play(call).catch(() => {});
  await rig.api().patch(DEMO, { agency: 'test' });
  await rig.api().put(MEMBER, {});
  const stack = building.move();
  const server = () => rig.server(rig.servers.length - 1);
  return {
    disk,
    files,
    rig,
    server,
    isCompacted,
    counts: { ...NO_COUNTS },
    claims: new Claims(),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
type Stage = Awaited<ReturnType<typeof openStage>>;

/** Posts until it is admitted: a refusal by a full disk must store nothing. */
async function admitted({ claims, server }: Stage, id: string, body: Record<string, unknown> = getBody(id)) {
  for (;;) {
    const reader = await claims.post(server().api, body, id);
    if (reader !== null) return reader;
    await sleep(200);
  }
}

/** The run ends, and its reader got what is stored. */
async function checkRun(
  { rig, server, isCompacted }: Stage,
  reader: StreamReader,
  status = 'completed',
  answer = 'One two.',
) {
  const { runId, frames } = await rig.follow(reader, { servers: () => [server()], limitMs: WAIT_MS });
  // A compacted run keeps fewer frames than its reader got.
  const { run } = await checkStory(rig, { api: server().api, runId, seen: isCompacted ? [] : frames });
  expectEqual('a run', [run.status, run.message, toAnswer(frames)], [status, answer, answer]);
}

async function checkClaims({ claims, counts, server }: Stage): Promise<void> {
  const hasRun = async (id: string) =>
    (await server().api.get(`${DEMO}/chat_status?usageRequestId=${encodeURIComponent(id)}`)).status === 200;
  const { wrong_true, wrong_false } = await claims.check('', async () => {
    const stored = new Set<string>();
    for (const id of claims.said.keys()) if (await hasRun(id)) stored.add(id);
    return stored;
  });
  counts.wrong_header += wrong_true + wrong_false;
  counts.wrong_header += expectEqual('answers without the header', claims.count('none'), 0);
  counts.runs += claims.count('true');
}

/** Signs an upload while there is space. */
async function signUpload({ server }: Stage, filename: string) {
  const { api, url } = server();
  const { body: form } = await api.post('/create_agency_upload', signing(FILE_BYTES, { filename }));
  const bytes = randomBytes(FILE_BYTES);
  const isStored = async () => {
    const address = `${url}${DEMO}/files/content?path=${encodeURIComponent(form.resource)}`;
    const answer = await fetch(address, { headers: api.authorization });
    return answer.status === 200 && Buffer.from(await answer.arrayBuffer()).equals(bytes);
  };
  return { send: () => sendForm(form, bytes), isStored };
}

interface Change {
  readonly what: string;
  readonly send: () => Promise<number>;
  readonly isStored: () => Promise<boolean>;
  /** Its success's status. */
  readonly good: number;
}

/** The change that reaches the point, or null if a completion reaches it. */
async function changeAt(stage: Stage, name: string, id: string): Promise<Change | null> {
  const { api } = stage.server();
  if (name.startsWith('upload-') || name === 'files')
    return { what: 'upload', good: 204, ...(await signUpload(stage, id)) };
  if (name === 'account') {
    const metadata = { id, text: text('').slice(0, METADATA_CHARS) };
    const isStored = async () => (await api.get(MEMBER)).body.metadata?.id === id;
    return { what: 'change', good: 200, send: async () => (await api.put(MEMBER, { metadata })).status, isStored };
  }
  if (!name.startsWith('cancel')) return null;
  const reader = await admitted(stage, id, getBody(id, 'cancel'));
  await within('first word', WAIT_MS, reader.untilText('One '));
  const send = async () => (await api.post(`${DEMO}/runs/${reader.headers['x-run-id']}/cancel`)).status;
  return {
    what: 'cancel',
    good: 200,
    send,
    isStored: () => checkRun(stage, reader, 'cancelled', 'One ').then(() => true),
  };
}

/**
 * Does something that reaches the point. The result is called when there is space again: it repeats what was refused, and
 * checks everything that was acknowledged.
 */
async function act(stage: Stage, point: Point, id: string): Promise<() => Promise<void>> {
  const name = point.slice(0, point.lastIndexOf('.'));
  const change = await changeAt(stage, name, id);
  if (change === null) {
    const url = stage.files.serve(`/${id}.txt`, 'Attached by its URL.', 'text/plain');
    const attachments = name === 'attachment' ? [{ type: 'input_file', file_url: url }] : [];
    const script = { step: 'useTool', flush: 'talk' }[name] ?? 'speak';
    const body = { ...getBody(id, script), attachments };
    const posted = stage.claims.post(stage.server().api, body, id);
    return async () => {
      const reader = await within('answer to a post', WAIT_MS, posted);
      await checkRun(stage, reader ?? (await admitted(stage, id, body)));
    };
  }
  const { what, send, isStored, good } = change;
  const first = send();
  first.catch(() => {});
  return async () => {
    const status = await within(`answer to a ${what}`, WAIT_MS, first);
    // A file that was not acknowledged may be stored.
    if (what === 'change') expectEqual('whether a change is stored', await isStored(), status === good);
    if (status !== good) expectEqual(`status of a ${what} with space`, await send(), good);
    expectEqual(`whether a ${what} is stored`, await isStored(), true);
  };
}

async function fillAt(stage: Stage, point: Point): Promise<void> {
  const { disk, counts, claims, server } = stage;
  const { api, url } = server();
  const id = `${point.replace('.', '-')}-${counts.filled}`;
  const { send } = await signUpload(stage, `${id}-late`);
  const before = getFailures(server());
  server().fillAt(point);
  const finish = await act(stage, point, id);
  await disk.filledAt(point);
  counts.filled += 1;
  await untilStatus(url, '/readyz', 503);
  expectEqual('status of /healthz on a full disk', (await getStatus(url, '/healthz')) ?? 0, 200);
  const image = { ...getBody(`${id}-image`), attachments: [imageAttachment(makePng(70_000))] };
  const refused = [
    await claims.post(api, getBody(`${id}-no`), `${id}-no`),
    await claims.post(api, image, `${id}-image`),
  ];
  expectEqual('runs admitted on a full disk', [...refused, await send()], [null, null, 503]);
  counts.refused += 3;
  const deadline = performance.now() + CHECKPOINT_MS;
  while (getFailures(server()) === before && performance.now() < deadline) await sleep(50);
  counts.checkpoints_failed += getFailures(server()) - before;
  disk.free();
  await untilStatus(url, '/readyz', 200);
  await finish();
  await checkRun(stage, await admitted(stage, `${id}-next`));
}

/** Rejects as soon as the process ends, so that the proof reports that and not a timeout. */
async function whileAlive({ server }: Stage, work: Promise<void>): Promise<void> {
  const { gone } = server();
  const died = gone.then(() => {
    throw new Shortfall(`died: expected 0, found 1. ${server().output.slice(-2000)}`);
  });
  for (const loser of [died, work]) loser.catch(() => {});
  await Promise.race([work, died]);
}

type Settings = Readonly<Record<string, string>>;

/** A server that starts on a full disk listens and is alive, is not ready, and refuses with the header. */
async function startOnFull<T>({ counts, disk }: Stage, start: (env: Settings) => Promise<T>): Promise<T> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const started = start({ PORT: String(port) });
  started.catch(() => {});
  await untilStatus(url, '/readyz', 503);
  await untilStatus(url, '/healthz', 200);
  const { status, headers } = await new ApiClient(url, TEST_API_KEY).complete({});
  expectEqual('completion on a full disk', [status, headers['x-agent-run-admitted']], [503, 'false']);
  counts.refused += 1;
  disk.free();
  const server = await within('a start with space', WAIT_MS, started);
  await untilStatus(url, '/readyz', 200);
  return server;
}

/** A kill leaves a run unfinished. The start that takes it over fills its disk at the point. */
async function startAt(stage: Stage, point: WaitPoint): Promise<void> {
  const { disk, rig, server, counts } = stage;
  const reader = await admitted(stage, point, getBody(point, 'wait'));
  await within('first word', WAIT_MS, reader.untilText('One '));
  await server().kill();
  disk.filledAt(point).catch(() => {});
  await startOnFull(stage, (env) => rig.add({ env, fill: { file: disk.file, at: point } }));
  counts.filled += 1;
  await checkRun(stage, reader);
}

/** `runwire serve` as a person starts it: first on an empty folder, then on the installation that it made. */
async function serveOnFull(stage: Stage, rounds: number): Promise<void> {
  const { counts, disk } = stage;
  const own = { RUNWIRE_DATA_DIR: join(disk.dataDir, 'cli'), RUNWIRE_API_KEY: TEST_API_KEY, DATABASE_URL: '' };
  for (; counts.starts < rounds; counts.starts += 1) {
    fillDisk(disk.file);
    await using cli = await startOnFull(stage, (env) => CliServer.start({ env: { ...own, ...env } }));
    const { status } = await cli.api(TEST_API_KEY).complete({});
    expectEqual('status of a completion of the same process with space', status, 200);
  }
}

/** A failed sync must end the process, because what is on the disk is unknown then. The next start recovers. */
async function failSync(stage: Stage): Promise<void> {
  const { rig, server, counts } = stage;
  await checkRun(stage, await admitted(stage, 'synced'));
  const body = getBody('unsynced');
  {
    await using _ = await attachStrace(server().pid, 'fsync,fdatasync:error=EIO');
    const answer = await server()
      .api.complete({ ...body, usageRequestId: 'unsynced' })
      .catch(() => null);
    const header = answer?.headers['x-agent-run-admitted'] ?? null;
    expectEqual('answer to a request whose sync failed', header, null);
    await within('the end of a process whose sync failed', WAIT_MS, server().gone);
  }
  await rig.add();
  await checkRun(stage, await admitted(stage, 'unsynced', body));
  counts.failed_syncs += 1;
}

test('a full disk ends no process and loses nothing', async () => {
  const fault = plantedFault();
  const short: readonly Point[] = ['admit.before-commit', 'step.before-commit', 'end.before-commit'];
  const points = scale(short, [...WAIT_POINTS, ...UPLOAD_POINTS, ...FILE_POINTS]);
  const sum = { ...NO_COUNTS };
  const on = async (isCompacted: boolean, work: (stage: Stage) => Promise<void>) => {
    await using stage = await openStage(fault, isCompacted);
    await work(stage);
    await checkClaims(stage);
    addTo(sum, stage.counts);
  };
  const fillAll = (some: readonly Point[]) => async (stage: Stage) => {
    for (const point of some) await whileAlive(stage, fillAt(stage, point));
  };
  const {
    'sweep.': sweeps = [],
    'takeover.': takeovers = [],
    other = [],
  } = Object.groupBy(
    points,
    (point) => (['sweep.', 'takeover.'] as const).find((prefix) => point.startsWith(prefix)) ?? 'other',
  );
  await on(false, fillAll(other));
  if (sweeps.length > 0) await on(true, fillAll(sweeps));
  for (const point of takeovers) await on(false, (stage) => startAt(stage, point as WaitPoint));
  if (scale(false, true)) await on(false, failSync);
  await on(false, (stage) => serveOnFull(stage, scale(1, 2)));
  const { filled, runs, refused, checkpoints_failed, starts, failed_syncs, wrong_header } = sum;
  expectEqual('filled', filled, points.length);
  expectAtLeast('runs', runs, points.length);
  expectAtLeast('failed checkpoints', checkpoints_failed, 1);
  const counts = { filled, runs, refused, checkpoints_failed, starts, failed_syncs };
  count({ points: points.length, ...counts, lost: 0, died: 0, wrong_header });
});
