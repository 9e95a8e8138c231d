import { chmodSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ApiClient,
  agencyProcess,
  copyHeldTools,
  type ModelCall,
  PUBLISH_POINTS,
  Rig,
  SHORT_LEASE,
  type StoreName,
  type UploadPoint,
  type WaitPoint,
} from '@runwire/test-kit';
import { count, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import {
  addTo,
  expectAtLeast,
  expectAtMost,
  expectEqual,
  Shortfall,
  until,
  WAIT_MS,
  within,
} from '@runwire/test-kit/shortfall.ts';
import { AgenciesFolder } from './support/agencies-folder.ts';
import { askStore } from './support/ask-store.ts';
import {
  compare,
  expectSwept,
  type FilePlace,
  filesIn,
  getDrafts,
  INTEGRATION,
  SWEEP_NOW,
} from './support/file-checks.ts';
import { inLanes } from './support/lanes.ts';
import { outputForModel, UNKNOWN } from './support/process-kills.ts';
import { missingBubblewrap, missingService } from './support/services.ts';
import { download } from './support/uploads.ts';

/*
 * A command of an agent changes 22 files. The server dies by SIGKILL, or stops by SIGSTOP until another node has taken the
 * run over, at every point from the staged files to the commit. All changes must be visible together with the step, or none.
 * The process in which the server runs another tool of the agent dies at the same points, and then all changes are visible.
 * Then many runs change the same files concurrently, within a quota.
 */

const AGENCY = 'work';
const agencyText = (tools: string) => `name: Work
toolFiles: [./${tools}]
agents:
  - { name: Worker, description: Works., instructions: Work., sandbox: true, tools: [gate] }
`;
const FIELDS = { apiIntegrationId: INTEGRATION, agency: AGENCY, fileAccess: 'all' };
const FILES = 20;
/** The sweeps of drafts and spools wait a day. */
const LONG_AGO = new Date(Date.now() - 2 * 86_400_000);
const AFTER_MS = 2000;
const TABLES = ['runs', 'steps', 'event_chunks', 'messages', 'files'];
const RUNS = 20;
const LARGE = { runs: 10, bytes: 3000, fit: 3, quota: 10_000 };
const LANES = 2;

/** Each round writes its number into all files, and replaces `flip` by `flop` or the reverse. */
const toCommand = (round: number) =>
  `for n in $(seq ${FILES}); do echo ${round} > f$n; done; if [ -e flip ]; then mv flip flop; else rm -f flop; echo x > flip; fi`;

/** The files after some rounds, as lines. */
type Content = readonly string[];
const NO_FILES: Content = [];

const nextContent = (before: Content, round: number): Content => [
  ...Array.from({ length: FILES }, (_, n) => `f${n + 1} ${round}`),
  before.includes('flip x') ? 'flop x' : 'flip x',
];

/** Everything that a caller sees in the folder, as lines. */
async function seenIn(api: ApiClient): Promise<string[]> {
  const query = new URLSearchParams({ folder: '/app/mnt', limit: '200' });
  const { body } = await api.get(`/v2/integrations/${INTEGRATION}/files?${query}`);
  const lines = body.items.map(async ({ name, path }: { name: string; path: string }) => {
    return `${name} ${(await (await download(api, path, INTEGRATION)).text()).trim()}`;
  });
  return Promise.all(lines);
}

const isSame = (one: readonly string[], other: readonly string[]) =>
  JSON.stringify(one.toSorted()) === JSON.stringify(other.toSorted());

/** The surroundings of the servers of one stage: an agency, and a temporary folder in which leftovers can be counted. */
class Surroundings implements Disposable {
  readonly #agencies = new AgenciesFolder({ [`${AGENCY}/agency.yaml`]: '' });
  readonly #folder = mkdtempSync(join(tmpdir(), 'runwire-publish-'));

  constructor() {
    const tools = copyHeldTools(join(this.#agencies.path, AGENCY));
    this.#agencies.write({ [`${AGENCY}/agency.yaml`]: agencyText(tools) });
    // Commands have another user.
    chmodSync(this.#folder, 0o777);
  }

  get env() {
    return { RUNWIRE_AGENCIES_DIR: this.#agencies.path, RUNWIRE_SANDBOX: 'bubblewrap', TMPDIR: this.#folder };
  }

  /** The command folders, and of servers that have run one. */
  get left(): number {
    return readdirSync(this.#folder).filter((name) => name.startsWith('runwire-sandbox-')).length;
  }

  [Symbol.dispose](): void {
    this.#agencies[Symbol.dispose]();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** The model calls `run_command` once. Resolves to what it sees of the outcome. */
function script(rig: Rig, command: string, onOutput: (call: ModelCall, output: string) => void): void {
  rig.model.onCall = (call) => {
    const last = call.request.prompt.at(-1);
    if (last?.kind === 'tool_output') onOutput(call, last.output);
    else
      call
        .toolCall('call_1', 'run_command', JSON.stringify({ command }))
        .then(() => call.end())
        .catch(() => {});
  };
}

const finish = (call: ModelCall) => call.text('Done').then(() => call.end());

interface Setting {
  readonly store: StoreName;
  readonly place: FilePlace;
}

type KillPoint = WaitPoint | UploadPoint;

async function killEverywhere({ store, place }: Setting, points: readonly KillPoint[], fault: string | null) {
  using around = new Surroundings();
  const env: Record<string, string> = { ...around.env, ...(await filesIn(place, 'through')) };
  await using rig = await Rig.open({ store, env });
  await rig.add();
  await rig.prepare(FIELDS);
  const stop = async () => {
    await Promise.all(rig.servers.map((server) => server.kill()));
    rig.servers.length = 0;
  };
  await stop();
  const sum = { kills: 0, all: 0, none: 0 };
  let before = NO_FILES;
  for (const [index, at] of points.entries()) {
    const round = index + 1;
    const after = nextContent(before, round);
    const outcome = Promise.withResolvers<string>();
    script(rig, toCommand(round), (call, output) => {
      outcome.resolve(output);
      finish(call).catch(() => {});
    });
    // The points of bytes are reached once for each file: the server dies in the middle.
    const doomed = await rig.add({ killAt: at, killAfter: at.startsWith('upload-') ? 9 : 1, fault });
    const posted = doomed.api.complete({ apiIntegrationId: INTEGRATION, message: 'Do it' });
    expectEqual('signal', await within(`${at}: death of the server`, WAIT_MS, doomed.gone), 'SIGKILL');
    const runId = String((await posted).headers['x-run-id']);
    rig.servers.length = 0;
    for (const draft of getDrafts(rig, env.S3_BUCKET ?? null)) utimesSync(draft, LONG_AGO, LONG_AGO);
    const { api } = await rig.add({ limits: SWEEP_NOW, fault: null });
    expectEqual(`${at}: folders of commands after the start`, around.left, 0);
    const seen = await seenIn(api);
    const isAfter = isSame(seen, after);
    if (!isAfter && !isSame(seen, before)) {
      throw new Shortfall(`${at}: a part of the changes is visible: ${seen.join(', ')}.`);
    }
    const output = await within(`${at}: the outcome`, WAIT_MS, outcome.promise);
    expectEqual(`${at}: whether the model knows the outcome`, output.startsWith('Exit code 0.'), isAfter);
    expectEqual(`${at}: whether the changes are visible`, isAfter, at === 'publish.after-commit');
    await until('end of the run', async () => (await api.get(`${rig.path}/runs/${runId}`)).body.status === 'completed');
    await expectSwept(() => compare(rig, env.S3_BUCKET ?? null));
    if (isAfter) before = after;
    await stop();
    addTo(sum, { kills: 1, all: Number(isAfter), none: Number(!isAfter) });
  }
  return sum;
}

/** The process of the agency dies at each point, while its tool `gate` and a command are in progress. */
async function killProcesses(points: readonly WaitPoint[]) {
  using around = new Surroundings();
  await using rig = await Rig.open({ env: around.env });
  let before = NO_FILES;
  for (const [index, at] of points.entries()) {
    const after = nextContent(before, index + 1);
    const server = await rig.add({ killAt: at, killsAgencies: true });
    if (index === 0) await rig.prepare(FIELDS);
    await within('start of the process', WAIT_MS, agencyProcess(server.api, AGENCY));
    const gateId = `gate-${index}`;
    rig.gate.onCall = null;
    rig.model.onCall = async (call) => {
      if (call.request.prompt.at(-1)?.kind === 'tool_output') return finish(call);
      await call.toolCall(gateId, 'gate', JSON.stringify({ port: rig.gate.port }));
      await call.toolCall(`command-${index}`, 'run_command', JSON.stringify({ command: toCommand(index + 1) }));
      await call.end();
    };
    const reader = await server.api.complete({ apiIntegrationId: INTEGRATION, message: 'Do it' });
    await until(`${at}: kill of the process`, async () => (await agencyProcess(server.api, AGENCY)).restarts === 1);
    rig.gate.onCall = ({ callId }) => rig.gate.open(callId, 'opened');
    for (const callId of rig.gate.held) rig.gate.open(callId, 'opened');
    await within(`${at}: end of the run`, WAIT_MS, reader.over);
    const messages = JSON.parse(reader.frames.find(({ event }) => event === 'messages')?.data ?? '{}');
    expectEqual(`${at}: end of the run`, messages.status, 'completed');
    const output = outputForModel(rig, `command-${index}`) ?? '';
    expectEqual(`${at}: whether the model knows the outcome`, output.startsWith('Exit code 0.'), true);
    expectEqual(`${at}: whether all changes are visible`, isSame(await seenIn(server.api), after), true);
    const gateOutput = outputForModel(rig, gateId) ?? '';
    expectEqual(`${at}: output of the other tool`, gateOutput === 'opened' || UNKNOWN.test(gateOutput), true);
    expectAtMost(`${at}: calls of the other tool`, rig.gate.calls.filter(({ callId }) => callId === gateId).length, 1);
    before = after;
    await server.kill();
    rig.servers.length = 0;
  }
  return { process_kills: points.length };
}

/** Returns every row as a line that can be compared. */
async function dump(rig: Rig): Promise<Set<string>> {
  const rows = TABLES.map((table) => `select '${table} ' || row_to_json(t)::text as line from ${table} t`);
  return new Set((await rig.query(rows.join(' union all '))).map(({ line }) => String(line)));
}

/** A node stops in the middle, another node takes its run over, and then the node continues. */
async function stopAndContinue(point: WaitPoint) {
  using around = new Surroundings();
  await using rig = await Rig.open({ nodes: 0, limits: SHORT_LEASE, env: around.env });
  const other = await rig.add();
  await rig.prepare(FIELDS);
  const held = Promise.withResolvers<{ readonly call: ModelCall; readonly output: string }>();
  script(rig, toCommand(1), (call, output) => held.resolve({ call, output }));
  const zombie = await rig.add({ stopAt: { point, time: 1 } });
  zombie.arm();
  const posted = await zombie.api.complete({ apiIntegrationId: INTEGRATION, message: 'Do it' });
  posted.over.catch(() => {});
  await until(`the stop at ${point}`, () => zombie.isStill);
  const { call, output } = await within('the takeover', WAIT_MS, held.promise);
  await sleep(500);
  const before = await dump(rig);
  const known = Number((await rig.query('select count(*) as n from nodes'))[0]?.n);
  zombie.unfreeze();
  await until('the node registered again', async () => {
    return Number((await rig.query('select count(*) as n from nodes'))[0]?.n) > known;
  });
  await sleep(AFTER_MS);
  const late = before.symmetricDifference(await dump(rig)).size;
  expectEqual('rows of the old attempt after the takeover', late, 0);
  await finish(call);
  const isVisible = point === 'publish.after-commit';
  expectEqual('whether the model knows the outcome', output.startsWith('Exit code 0.'), isVisible);
  const runId = String(posted.headers['x-run-id']);
  await until(
    'end of the run',
    async () => (await other.api.get(`${rig.path}/runs/${runId}`)).body.completedAt !== null,
  );
  expectEqual(
    'whether the changes are visible',
    isSame(await seenIn(other.api), isVisible ? nextContent(NO_FILES, 1) : NO_FILES),
    true,
  );
  return { stops: 1, late };
}

interface RaceSetting extends Setting {
  readonly uploads: 'direct' | 'through';
}

/** Runs that change one file concurrently: each tries until its change is published. */
async function race({ store, place, uploads }: RaceSetting) {
  using around = new Surroundings();
  const env: Record<string, string> = {
    ...around.env,
    ...(await filesIn(place, uploads)),
    RUNWIRE_MOUNT_QUOTA_BYTES: String(LARGE.quota),
  };
  await using rig = await Rig.start({ nodes: store === 'postgres' ? 3 : null, env });
  await rig.prepare(FIELDS);
  const ask = (query: string) => (store === 'postgres' ? rig.query(query) : askStore(rig.dataDir, query));
  const counts = { published: 0, conflicts: 0, refused: 0, taken: 0 };
  const command = (message: string) => {
    const [kind, n] = message.split(' ');
    if (kind === 'large') return `head -c ${LARGE.bytes} /dev/zero > large-${n}`;
    return `echo $(($(cat counter 2> /dev/null || echo 0) + 1)) > counter; echo ${n} > own-${n}`;
  };
  rig.model.onCall = (call) => {
    const user = call.request.prompt.find((item) => item.kind === 'user');
    const last = call.request.prompt.at(-1);
    const output = last?.kind === 'tool_output' ? last.output : null;
    const isConflict = output?.includes('Another writer changed these files') === true;
    if (output?.startsWith('Exit code 0.')) counts.published += 1;
    else if (isConflict) counts.conflicts += 1;
    else if (output?.includes('exceed their quota')) counts.refused += 1;
    else if (output !== null) counts.taken += 1;
    if (output !== null && !isConflict) finish(call).catch(() => {});
    else {
      const input = JSON.stringify({ command: command(user?.text ?? '') });
      call
        .toolCall(`call_${call.request.step}`, 'run_command', input)
        .then(() => call.end())
        .catch(() => {});
    }
  };
  let [most, isOver] = [0, false];
  const messages = [
    ...Array.from({ length: RUNS }, (_, n) => `count ${n}`),
    ...Array.from({ length: LARGE.runs }, (_, n) => `large ${n}`),
  ];
  const running = Promise.all(
    messages.map(async (message, n) => {
      const reader = await rig.api(n).complete({ apiIntegrationId: INTEGRATION, message });
      return rig.follow(reader, { limitMs: 4 * WAIT_MS });
    }),
  ).finally(() => {
    isOver = true;
  });
  const stored = 'select coalesce(sum(size_bytes), 0) as bytes from files where freed_at is null';
  for (; !isOver; await sleep(20)) most = Math.max(most, Number((await ask(stored))[0]?.bytes));
  await running;
  const seen = await seenIn(rig.api());
  expectEqual('outcomes that are none of these', counts.taken, 0);
  expectEqual(
    'changes that are counted',
    seen.find((line) => line.startsWith('counter ')),
    `counter ${RUNS}`,
  );
  expectEqual('files of the runs', seen.filter((line) => line.startsWith('own-')).length, RUNS);
  expectEqual('large files', seen.filter((line) => line.startsWith('large-')).length, LARGE.fit);
  expectAtMost('bytes of the files', most, LARGE.quota);
  expectAtLeast('conflicts', counts.conflicts, 1);
  const { published, refused, conflicts } = counts;
  return { published, refused, conflicts };
}

const BYTES_POINTS: readonly UploadPoint[] = ['upload-bytes.after', 'upload-sync.after'];
const RENAME_POINTS: readonly UploadPoint[] = ['upload-rename.before', 'upload-folder-sync.after'];
const setting = (store: StoreName, place: FilePlace) => [`${store} and ${place}`, { store, place }] as const;
const KILLS = [setting('sqlite', 'disk'), setting('postgres', 's3')];
const MORE_KILLS = [...KILLS, setting('sqlite', 's3'), setting('postgres', 'disk')];
const SHORT: readonly KillPoint[] = ['command-run.after', 'publish.before-commit', 'publish.after-commit'];

const SHORT_PROCESSES: readonly WaitPoint[] = ['command-run.before', 'command-bytes.after', 'publish.before-commit'];

const getPoints = (place: FilePlace): readonly KillPoint[] => [
  ...PUBLISH_POINTS.slice(0, -2),
  ...BYTES_POINTS,
  ...(place === 'disk' ? RENAME_POINTS : []),
  'publish.before-commit',
  'publish.after-commit',
];

const RACES: readonly (readonly [string, RaceSetting])[] = [
  ['sqlite and disk', { store: 'sqlite', place: 'disk', uploads: 'through' }],
  ['postgres and s3, direct', { store: 'postgres', place: 's3', uploads: 'direct' }],
  ['sqlite and s3, through', { store: 'sqlite', place: 's3', uploads: 'through' }],
  ['postgres and disk', { store: 'postgres', place: 'disk', uploads: 'through' }],
];

test('file changes of a command are published with its step', async (t) => {
  const fault = plantedFault();
  const missing = (await missingService('s3')) ?? (await missingService('postgres')) ?? (await missingBubblewrap());
  if (missing !== null) return t.skip(missing);
  const killed = { kills: 0, all: 0, none: 0, process_kills: 0 };
  const sum = { ...killed, stops: 0, late: 0, published: 0, refused: 0, conflicts: 0 };
  await inLanes(LANES, scale(KILLS, MORE_KILLS), async (one) => {
    addTo(sum, await killEverywhere(one, scale(SHORT, getPoints(one.place)), fault));
  });
  addTo(sum, await killProcesses(scale(SHORT_PROCESSES, PUBLISH_POINTS)));
  const stops = scale<readonly WaitPoint[]>(['command-bytes.after', 'publish.before-commit'], PUBLISH_POINTS);
  await inLanes(
    LANES,
    stops.map((point) => [point, point] as const),
    async (point) => {
      addTo(sum, await stopAndContinue(point));
    },
  );
  await inLanes(1, scale(RACES.slice(0, 2), RACES), async (one) => addTo(sum, await race(one)));
  count(sum);
});
