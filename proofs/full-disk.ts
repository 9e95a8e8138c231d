import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  ApiClient,
  answerOf,
  FileServer,
  follow,
  freePort,
  imageAttachment,
  type ModelCall,
  pngOf,
  type ServerProcess,
  type StreamReader,
  TEST_API_KEY,
  UPLOAD_POINTS,
  type UploadPoint,
  WAIT_POINTS,
  type WaitPoint,
} from '@runwire/test-kit';
import { Claims } from './support/claims.ts';
import { COMPACT } from './support/crash-cases.ts';
import { rawUpload, sendRaw } from './support/multipart-load.ts';
import {
  expectAtLeast,
  expectEqual,
  expectNumber,
  type Proof,
  Shortfall,
  until,
  WAIT_MS,
  within,
} from './support/proof.ts';
import { Rig, type ServerOptions } from './support/rig.ts';
import { signed } from './support/signed-form.ts';
import { SizedDisk } from './support/sized-disk.ts';
import { checkStory } from './support/story.ts';
import { Strace } from './support/strace.ts';

/*
 * A server runs on a small disk of its own. At each wait point the server's own thread fills the disk to the last block; then
 * callers are refused, a checkpoint fails, and the disk is freed. One process lives through all of it.
 */

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
const bodyOf = (chatId: string, script = 'speak') => ({ consumerId: 'ann', chatId, message: text(script) });

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

/** Resolves to null while no server listens. */
const statusOf = async (url: string, path: string) => (await fetch(url + path).catch(() => null))?.status ?? null;
const untilReady = (url: string, status: number) =>
  until(`readiness ${status}`, async () => (await statusOf(url, '/readyz')) === status);
const failuresOf = ({ output }: ServerProcess) => output.split('a checkpoint failed').length - 1;

/** Called when there is space again: repeats what was refused, and checks everything that was acknowledged. */
type Finish = () => Promise<void>;

/** A server on its small disk, its callers and the counts of the proof. */
class Stage implements AsyncDisposable {
  readonly counts = {
    filled: 0,
    runs: 0,
    refused: 0,
    checkpoints_failed: 0,
    starts: 0,
    failed_syncs: 0,
    wrong_header: 0,
  };
  readonly claims = new Claims();
  readonly disk: SizedDisk;
  readonly rig: Rig;
  readonly #files: FileServer;
  readonly #isCompacted: boolean;
  readonly #stack: AsyncDisposableStack;
  readonly #over = new AbortController();

  private constructor(disk: SizedDisk, files: FileServer, rig: Rig, isCompacted: boolean, stack: AsyncDisposableStack) {
    this.disk = disk;
    this.rig = rig;
    this.#files = files;
    this.#isCompacted = isCompacted;
    this.#stack = stack;
    rig.model.onCall = (call) => void play(call).catch(() => {});
  }

  static async start(fault: string | null, isCompacted = false): Promise<Stage> {
    await using building = new AsyncDisposableStack();
    const disk = building.use(SizedDisk.mount());
    const files = building.use(await FileServer.start());
    // This proof is about the embedded store, also if other proofs run on PostgreSQL.
    const env = { ...files.env, DATABASE_URL: '', RUNWIRE_LOG_LEVEL: 'error', RUNWIRE_DATA_DIR: disk.dataDir };
    const limits = isCompacted ? COMPACT : {};
    const rig = building.use(await Rig.start({ fault, limits, env, fill: { file: disk.file } }));
    await rig.api().patch(DEMO, { agency: 'test' });
    await rig.api().put(MEMBER, {});
    return new Stage(disk, files, rig, isCompacted, building.move());
  }

  get server(): ServerProcess {
    return this.rig.server(this.rig.servers.length - 1);
  }

  /** Posts until it is admitted: a refusal by a full disk must store nothing. */
  async admitted(id: string, body: Readonly<Record<string, unknown>> = bodyOf(id)): Promise<StreamReader> {
    for (;;) {
      const reader = await this.claims.post(this.server.api, body, id);
      if (reader !== null) return reader;
      await sleep(200);
    }
  }

  /** The run ends, and its reader got what is stored. */
  async checkRun(reader: StreamReader, status = 'completed', answer = 'One two.'): Promise<void> {
    const { api } = this.server;
    const read = follow(reader, () => [api], 'demo', this.#over.signal);
    const { runId, frames } = await within('end of a run', WAIT_MS, read);
    // A compacted run keeps fewer frames than its reader got.
    const seen = this.#isCompacted ? [] : frames;
    const { run } = await checkStory(api, { integration: 'demo', runId, model: this.rig.model, seen });
    expectEqual('a run', [run.status, run.message, answerOf(frames)], [status, answer, answer]);
  }

  async checkClaims(): Promise<void> {
    const stored = new Set<string>();
    for (const id of this.claims.ids) {
      const { status } = await this.server.api.get(`${DEMO}/chat_status?usageRequestId=${encodeURIComponent(id)}`);
      if (status === 200) stored.add(id);
    }
    const { falseTrue, falseFalse } = this.claims.wrong('', stored);
    const silent = expectNumber('answers without the header', this.claims.count('none'), 0);
    this.counts.wrong_header += falseTrue + falseFalse + silent;
    this.counts.runs += this.claims.count('true');
  }

  /** Signs an upload while there is space. */
  async #form(id: string) {
    const { url, api } = this.server;
    const terms = { folder: '/app/mnt/full', filename: id, contentType: 'text/plain', sizeBytes: FILE_BYTES };
    const { uploadUrl, uploadFields } = await signed(api, terms);
    const bytes = randomBytes(FILE_BYTES);
    const send = () => sendRaw(url, rawUpload(new URL(uploadUrl).pathname, uploadFields, bytes));
    const isStored = async () => {
      const address = `${url}${DEMO}/files/content?path=${encodeURIComponent(`/app/mnt/full/${id}`)}`;
      const answer = await fetch(address, { headers: api.authorization });
      return answer.status === 200 && Buffer.from(await answer.arrayBuffer()).equals(bytes);
    };
    return { send, isStored };
  }

  /** Does something that reaches the point. */
  async #act(point: Point, id: string): Promise<Finish> {
    const { api } = this.server;
    const name = point.slice(0, point.lastIndexOf('.'));
    if (name.startsWith('upload-')) {
      const { send, isStored } = await this.#form(id);
      return this.#change('upload', send, isStored, 204);
    }
    if (name === 'account') {
      const put = async () =>
        (await api.put(MEMBER, { metadata: { id, text: text('').slice(0, METADATA_CHARS) } })).status;
      const isStored = async () => (await api.get(MEMBER)).body.metadata?.id === id;
      return this.#change('change', put, isStored, 200);
    }
    if (name.startsWith('cancel')) {
      const reader = await this.admitted(id, bodyOf(id, 'cancel'));
      await within('first word', WAIT_MS, reader.untilText('One '));
      const cancel = async () => (await api.post(`${DEMO}/runs/${reader.headers['x-run-id']}/cancel`)).status;
      const isStored = async () => {
        await this.checkRun(reader, 'cancelled', 'One ');
        return true;
      };
      return this.#change('cancel', cancel, isStored, 200);
    }
    const url = this.#files.serve(`/${id}.txt`, 'Attached by its URL.', 'text/plain');
    const attachments = name === 'attachment' ? { attachments: [{ type: 'input_file', file_url: url }] } : {};
    const body = { ...bodyOf(id, name === 'step' ? 'useTool' : name === 'flush' ? 'talk' : 'speak'), ...attachments };
    const posted = this.claims.post(api, body, id);
    return async () =>
      this.checkRun((await within('answer to a post', WAIT_MS, posted)) ?? (await this.admitted(id, body)));
  }

  /** A change that was acknowledged is stored; a change that was refused succeeds after space is freed. */
  #change(what: string, send: () => Promise<number>, isStored: () => Promise<boolean>, good: number): Finish {
    const first = send();
    first.catch(() => {});
    return async () => {
      const status = await within(`answer to a ${what}`, WAIT_MS, first);
      // A file that was not acknowledged may be stored.
      if (what === 'change') expectEqual('whether a change is stored', await isStored(), status === good);
      if (status !== good) expectNumber(`status of a ${what} with space`, await send(), good);
      expectEqual(`whether a ${what} is stored`, await isStored(), true);
    };
  }

  async fillAt(point: Point): Promise<void> {
    const { server, disk, counts, claims } = this;
    const { api, url } = server;
    const id = `${point.replace('.', '-')}-${counts.filled}`;
    const { send } = await this.#form(`${id}-late`);
    const before = failuresOf(server);
    server.fillAt(point);
    const finish = await this.#act(point, id);
    await until(`a disk filled at ${point}`, () => disk.isFilled);
    disk.fill();
    counts.filled += 1;
    await untilReady(url, 503);
    expectNumber('status of /healthz on a full disk', (await statusOf(url, '/healthz')) ?? 0, 200);
    const image = { ...bodyOf(`${id}-image`), attachments: [imageAttachment(pngOf(70_000))] };
    const refused = [
      await claims.post(api, bodyOf(`${id}-no`), `${id}-no`),
      await claims.post(api, image, `${id}-image`),
    ];
    expectEqual('runs admitted on a full disk', [...refused, await send()], [null, null, 503]);
    counts.refused += 3;
    const deadline = performance.now() + CHECKPOINT_MS;
    while (failuresOf(server) === before && performance.now() < deadline) await sleep(50);
    counts.checkpoints_failed += failuresOf(server) - before;
    disk.free();
    await untilReady(url, 200);
    await finish();
    await this.checkRun(await this.admitted(`${id}-next`));
  }

  /** Rejects as soon as the process ends, so that the proof reports that and not a timeout. */
  async whileAlive(work: Promise<void>): Promise<void> {
    const { server } = this;
    const died = server.gone.then(() => {
      throw new Shortfall(`died: expected 0, found 1. ${server.output.slice(-2000)}`);
    });
    for (const loser of [died, work]) loser.catch(() => {});
    await Promise.race([work, died]);
  }

  /** A server that starts on a full disk listens and is alive, is not ready, and refuses with the header. */
  async startsOnFull(url: string, start: () => Promise<unknown>): Promise<void> {
    const started = start();
    started.catch(() => {});
    await untilReady(url, 503);
    await until('health 200 of a start on a full disk', async () => (await statusOf(url, '/healthz')) === 200);
    const { status, headers } = await new ApiClient(url, TEST_API_KEY).complete({});
    expectEqual('completion on a full disk', [status, headers['x-agent-run-admitted']], [503, 'false']);
    this.counts.refused += 1;
    this.disk.free();
    await within('a start with space', WAIT_MS, started);
    await untilReady(url, 200);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    await this.#stack.disposeAsync();
  }
}

/** A kill leaves a run unfinished. The start that takes it over fills its disk at the point. */
async function startAt(stage: Stage, point: WaitPoint): Promise<void> {
  const { disk, rig, counts } = stage;
  const reader = await stage.admitted(point, bodyOf(point, 'wait'));
  await within('first word', WAIT_MS, reader.untilText('One '));
  await stage.server.kill('SIGKILL');
  const port = await freePort();
  await stage.startsOnFull(`http://127.0.0.1:${port}`, () => {
    const options: ServerOptions = { env: { PORT: String(port) }, fill: { file: disk.file, at: point } };
    const started = rig.add(options);
    void until(`a disk filled at ${point}`, () => disk.isFilled).then(
      () => disk.fill(),
      () => {},
    );
    return started;
  });
  counts.filled += 1;
  await stage.checkRun(reader);
}

/** `runwire serve` as a person starts it: first on an empty folder, then on the installation that it made. */
async function serveOnFull(stage: Stage, rounds: number): Promise<void> {
  await stage.server.kill('SIGKILL');
  const cli = join(import.meta.dirname, '../packages/cli/src/main.ts');
  for (let round = 0; round < rounds; round += 1) {
    stage.disk.fill();
    const port = await freePort();
    const env = {
      PATH: process.env.PATH ?? '',
      PORT: String(port),
      RUNWIRE_DATA_DIR: join(stage.disk.dataDir, 'cli'),
      RUNWIRE_API_KEY: TEST_API_KEY,
      RUNWIRE_LOG_LEVEL: 'silent',
    };
    const child = spawn(process.execPath, ['-C', 'runwire', cli, 'serve'], { env, stdio: 'ignore' });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    try {
      const url = `http://127.0.0.1:${port}`;
      await stage.startsOnFull(url, async () => {});
      const { status } = await new ApiClient(url, TEST_API_KEY).complete({});
      expectEqual('completion of the same process with space', [status, child.exitCode], [200, null]);
    } finally {
      child.kill('SIGTERM');
      await ended;
    }
    stage.counts.starts += 1;
  }
}

/** A failed sync must end the process, because what is on the disk is unknown then. The next start recovers. */
async function failSync(stage: Stage): Promise<void> {
  const { server } = stage;
  await stage.checkRun(await stage.admitted('synced'));
  const body = bodyOf('unsynced');
  {
    await using _ = await Strace.attach(server.pid, 'fsync,fdatasync:error=EIO');
    const answer = await server.api.complete({ ...body, usageRequestId: 'unsynced' }).catch(() => null);
    expectEqual('answer to a request whose sync failed', answer?.headers['x-agent-run-admitted'] ?? null, null);
    await within('the end of a process whose sync failed', WAIT_MS, server.gone);
  }
  await stage.rig.add();
  await stage.checkRun(await stage.admitted('unsynced', body));
  stage.counts.failed_syncs += 1;
}

export const proof: Proof = {
  name: 'full-disk',
  minutes: 5,
  faults: { 'die-on-checkpoint': /^died: expected 0, found 1\./m },
  figures: (scale) => ({ starts: scale(1, 2), failed_syncs: scale(0, 1) }),
  async run({ fault, scale }) {
    const short: readonly Point[] = ['admit.before-commit', 'step.before-commit', 'end.before-commit'];
    const points = scale(short, [...WAIT_POINTS, ...UPLOAD_POINTS]);
    const sum = { filled: 0, runs: 0, refused: 0, checkpoints_failed: 0, starts: 0, failed_syncs: 0, wrong_header: 0 };
    const on = async (isCompacted: boolean, work: (stage: Stage) => Promise<void>) => {
      await using stage = await Stage.start(fault, isCompacted);
      await work(stage);
      await stage.checkClaims();
      for (const [key, count] of Object.entries(stage.counts)) sum[key as keyof typeof sum] += count;
    };
    const fillAll = (some: readonly Point[]) => async (stage: Stage) => {
      for (const point of some) await stage.whileAlive(stage.fillAt(point));
    };
    const named = (prefix: string) => points.filter((point) => point.startsWith(prefix));
    const [sweeps, takeovers] = [named('sweep.'), named('takeover.')];
    await on(false, fillAll(points.filter((point) => !sweeps.includes(point) && !takeovers.includes(point))));
    if (sweeps.length > 0) await on(true, fillAll(sweeps));
    for (const point of takeovers) await on(false, (stage) => startAt(stage, point as WaitPoint));
    if (scale(false, true)) await on(false, failSync);
    await using empty = await Stage.start(fault);
    await serveOnFull(empty, scale(1, 2));
    sum.starts += empty.counts.starts;
    sum.refused += empty.counts.refused;
    return {
      points: points.length,
      filled: expectNumber('filled', sum.filled, points.length),
      runs: expectAtLeast('runs', sum.runs, points.length),
      refused: sum.refused,
      checkpoints_failed: expectAtLeast('failed checkpoints', sum.checkpoints_failed, 1),
      starts: sum.starts,
      failed_syncs: sum.failed_syncs,
      lost: 0,
      died: 0,
      wrong_header: sum.wrong_header,
    };
  },
};
