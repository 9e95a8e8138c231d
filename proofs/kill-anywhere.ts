import { cpSync } from 'node:fs';
import {
  FileServer,
  ModelController,
  type ServerProcess,
  type StreamReader,
  WAIT_POINTS,
  type WaitPoint,
} from '@runwire/test-kit';
import { ANSWER, askFromOutside, levelSeen } from './support/ask-from-outside.ts';
import { DataFolder } from './support/data-folder.ts';
import {
  ATTACHED_TEXT,
  attaches,
  FURTHER_KILL_CASES,
  INTEGRATION,
  KILL_CASES,
  type KillCase,
  PATH,
  playScript,
  REQUEST,
  SWEEP_AT_ONCE,
} from './support/kill-scripts.ts';
import {
  expectAtLeast,
  expectAtMost,
  expectEqual,
  expectNumber,
  type Proof,
  Shortfall,
  within,
} from './support/proof.ts';
import { startServer } from './support/start-server.ts';

const WAIT_MS = 60_000;
/** At once: two processes keep two cores busy, and one more the disk. */
const LANES = 3;
/** A kill costs two starts of about a second of work each: all points take minutes where tests run. */
const SHORT_STRIDE = 3;
const SHORT_ACCOUNT_STRIDE = 2;
/** A start takes over what it finds before it is ready: a planted fault is seen at once. */
const FAULT_ENDED_WITHIN_MS = 3000;

interface Setting {
  readonly fault: string | null;
  readonly endedWithinMs: number;
  /** Of the times at which an account is written, every which one is a kill. */
  readonly accountStride: number;
}

async function postIntegration(server: ServerProcess): Promise<void> {
  const allowances = { unit: 'runs', limit: 100, period: 'lifetime' };
  const body = { apiIntegrationId: INTEGRATION, name: 'Kill', agency: 'test', allowances };
  expectNumber('status of the integration', (await server.api.post('/v2/integrations', body)).status, 201);
}

async function prepare(server: ServerProcess): Promise<void> {
  await postIntegration(server);
  await putMember(server);
}

async function putMember(server: ServerProcess): Promise<void> {
  const { status } = await server.api.put(`${PATH}/members/${REQUEST.consumerId}`, {});
  expectEqual('member registered', [200, 201].includes(status), true);
}

/** A folder with the integration and its member, copied for every kill. */
async function prepareFolder(folder: DataFolder): Promise<void> {
  await using server = await startServer(null, { dataDir: folder.path });
  await prepare(server);
  await server.kill('SIGTERM');
}

/** Null: the start died at its point. One that does not come up for another reason says why. */
async function startDoomed(options: Parameters<typeof startServer>[1]): Promise<ServerProcess | null> {
  const started = await startServer(null, options).catch((error: Error) => error);
  if (!(started instanceof Error)) return started;
  expectEqual('last words of a process that was killed', started.message, 'The server did not come up: ');
  return null;
}

async function killRun(kill: KillCase, template: DataFolder, setting: Setting): Promise<number> {
  using folder = new DataFolder();
  cpSync(template.path, folder.path, { recursive: true });
  await using model = await ModelController.start();
  await using files = attaches(kill) ? await FileServer.start() : null;
  const options = { dataDir: folder.path, controllerPort: model.port, env: files?.env ?? {} };
  const url = files?.serve('/attached.txt', ATTACHED_TEXT, 'text/plain');
  const request = url === undefined ? REQUEST : { ...REQUEST, attachments: [{ type: 'input_file', file_url: url }] };
  const seen = await playUntilKilled(kill, request, model, options);
  // Before the next start: a run that goes on asks at once.
  model.answerAll(ANSWER);
  const level = levelSeen(seen);
  expectAtLeast('level of what the client saw', level, kill.seen[0]);
  expectAtMost('level of what the client saw', level, kill.seen[1]);
  if (kill.nextStart !== null) {
    await using started = await startDoomed({ ...options, killAt: kill.nextStart });
    expectNumber(`starts killed at ${kill.nextStart}`, Number(started === null), 1);
  }
  await using server = await startServer(setting.fault, options);
  await askFromOutside({
    api: server.api,
    model,
    seen,
    outcome: kill.outcome,
    compacted: kill.point === 'sweep.after-commit',
    endedWithinMs: setting.endedWithinMs,
    request,
  });
  if (files !== null) {
    // What was fetched and not recorded is fetched again, by the run that goes on; the next turn has the copy.
    expectNumber('fetches', files.requests.length, kill.point === 'attachment.before-commit' ? 2 : 1);
    const shown = model.calls.filter((call) => JSON.stringify(call.request.prompt).includes(ATTACHED_TEXT));
    expectNumber('model calls that show the file', shown.length, model.calls.length);
  }
  return kill.nextStart === null ? 1 : 2;
}

/** Resolves to what the client has when the process is gone. */
async function playUntilKilled(
  kill: KillCase,
  request: Readonly<Record<string, unknown>>,
  model: ModelController,
  options: {
    readonly dataDir: string;
    readonly controllerPort: number;
    readonly env: Readonly<Record<string, string>>;
  },
): Promise<StreamReader | null> {
  const limits = kill.point.startsWith('sweep.') ? SWEEP_AT_ONCE : {};
  await using doomed = await startServer(null, { ...options, limits, killAt: kill.point, killAfter: kill.time });
  const { api } = doomed;
  const post = api.complete(request);
  const head = post.catch(() => null);
  // Whatever it does last meets a dead process.
  playScript(kill.script, { api, model, post }).catch(() => {});
  expectEqual('signal', await within('death at the point', WAIT_MS, doomed.gone), 'SIGKILL');
  const seen = await within('end of the post', WAIT_MS, head);
  await within('end of the cut stream', WAIT_MS, seen?.over ?? Promise.resolve(false));
  return seen;
}

/** Whether it lives and says so: whoever asks has it write, and so it may die of the question. */
async function isReady(server: ServerProcess): Promise<boolean> {
  const answer = await server.api.get('/readyz').catch(() => null);
  return answer?.status === 200;
}

/** Changes accounts until the process dies of it; resolves to whether the integration was promised before. */
async function changeUntilKilled(doomed: ServerProcess): Promise<boolean> {
  const promised = await postIntegration(doomed).then(
    () => true,
    () => false,
  );
  if (promised) putMember(doomed).catch(() => {});
  expectEqual('signal', await within('death at the point', WAIT_MS, doomed.gone), 'SIGKILL');
  return promised;
}

/**
 * Accounts are written in every start, when readiness is asked, and by every change: from an empty folder on, the
 * process dies at the first time, at the second, and so on, until it lives to be ready and dies by a change.
 */
async function killAccounts(point: WaitPoint, setting: Setting): Promise<number> {
  let kills = 0;
  for (let time = 1; ; time += setting.accountStride) {
    using folder = new DataFolder();
    await using model = await ModelController.start();
    model.answerAll(ANSWER);
    const options = { dataDir: folder.path, controllerPort: model.port };
    await using doomed = await startDoomed({ ...options, killAt: point, killAfter: time });
    const changes = doomed !== null && (await isReady(doomed));
    const promised = changes && (await changeUntilKilled(doomed));
    if (doomed !== null) expectEqual('signal', await within('death at the point', WAIT_MS, doomed.gone), 'SIGKILL');
    kills += 1;
    await using server = await startServer(setting.fault, options);
    const integration = await server.api.get(PATH);
    const durable = promised || (changes && point === 'account.after-commit');
    expectNumber('status of the integration after the kill', integration.status, durable ? 200 : 404);
    if (durable) await putMember(server);
    else await prepare(server);
    await askFromOutside({
      api: server.api,
      model,
      seen: null,
      outcome: 'none',
      compacted: false,
      endedWithinMs: setting.endedWithinMs,
    });
    if (changes) return kills;
  }
}

interface Job {
  readonly points: readonly WaitPoint[];
  readonly label: string;
  readonly run: () => Promise<number>;
}

/** All of them, or in the short form every third of those that hold each point once, by their place in the list. */
function jobs(template: DataFolder, setting: Setting, short: boolean): Job[] {
  const cases = short ? KILL_CASES : [...KILL_CASES, ...FURTHER_KILL_CASES];
  const accounts = (['account.before-commit', 'account.after-commit'] as const).map((point) => ({
    points: [point],
    label: `${point} (start and change)`,
    run: () => killAccounts(point, setting),
  }));
  const runs = cases.map((kill) => ({
    points: kill.nextStart === null ? [kill.point] : [kill.point, kill.nextStart],
    label: `${kill.point}${kill.nextStart === null ? '' : `, ${kill.nextStart}`} (${kill.script}, time ${kill.time})`,
    run: () => killRun(kill, template, setting),
  }));
  // The longest first, so that no lane is left with it; a planted fault shows in runs.
  const all = setting.fault === null ? [...accounts.toReversed(), ...runs] : [...runs, ...accounts];
  return short ? all.filter((_, place) => place % SHORT_STRIDE === 0) : all;
}

export const proof: Proof = {
  name: 'kill-anywhere',
  minutes: 3,
  faults: {
    'leave-orphans': /ended runs within \d+ ms of readiness: expected 1, found 0/,
  },
  async run({ fault, scale }) {
    const short = scale(true, false);
    // Tests run on busy machines: three times the promise. A planted fault needs no slack to be seen.
    const endedWithinMs = !short ? 15_000 : fault === null ? 45_000 : FAULT_ENDED_WITHIN_MS;
    const setting = { fault, endedWithinMs, accountStride: short ? SHORT_ACCOUNT_STRIDE : 1 };
    using template = new DataFolder();
    await prepareFolder(template);
    const queue = jobs(template, setting, short);
    const promised = new Set(queue.flatMap((job) => job.points));
    const reached = new Set<WaitPoint>();
    let kills = 0;
    let failed = false;
    const lane = async () => {
      for (let job = queue.shift(); job !== undefined && !failed; job = queue.shift()) {
        try {
          const killed = await job.run();
          kills += killed;
          for (const point of job.points) reached.add(point);
          process.stdout.write(`killed ${killed} at ${job.label}\n`);
        } catch (error) {
          failed = true;
          throw error instanceof Shortfall ? new Shortfall(`${job.label}: ${error.message}`) : error;
        }
      }
    };
    // All lanes come to rest before the first shortfall is told, so that no process is left behind.
    const lanes = await Promise.allSettled(Array.from({ length: fault === null ? LANES : 1 }, lane));
    for (const outcome of lanes) if (outcome.status === 'rejected') throw outcome.reason;
    const asked = short ? WAIT_POINTS.filter((point) => promised.has(point)) : WAIT_POINTS;
    const points = asked.length;
    const killed = expectNumber('points', asked.filter((point) => reached.has(point)).length, points);
    process.stdout.write(`points ${points} killed ${killed}\n`);
    return { points, killed, kills };
  },
};
