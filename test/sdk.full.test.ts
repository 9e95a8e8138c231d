import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Rig, TEST_API_KEY } from '@runwire/test-kit';
import { type Disturbance, DisturbingRelay } from '@runwire/test-kit/disturbing-relay.ts';
import { count, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import { expectAtLeast, expectEqual, until, within } from '@runwire/test-kit/shortfall.ts';
import { PYTHON_ENV } from './support/python.ts';
import type { ClientJob, ClientReport } from './support/sdk-client.ts';
import { missingService, PYTHON } from './support/services.ts';

/*
 * Clients start runs through a relay that refuses connections, cuts requests and answers after a random byte, answers 502
 * itself and falls silent, while the server is killed and started again now and then. Every run must exist once, be charged
 * once, and the client must have the text that the server stores.
 */

const INTEGRATION = 'sdk';
const CONSUMER = 'user-42';
/** Concurrent runs of each client. */
const CONCURRENCY = 24;
/** Share of the connections that are disturbed. */
const DISTURBED_SHARE = 0.7;
const SILENCE_MS = 2000;
const MAX_MINUTES = 60;
/** Longer than a run's answer: some cuts hit a later request of the same connection. */
const MAX_BYTES = 14_000;

/** The clients' programs. Each reads a `ClientJob` and writes `ClientReport`s. */
const CLIENTS: Readonly<Record<string, readonly string[]>> = {
  typescript: [process.execPath, '-C', 'runwire', join(import.meta.dirname, 'support/sdk-client.ts')],
  python: [PYTHON, join(import.meta.dirname, 'support/sdk-client.py')],
  asyncio: [PYTHON, join(import.meta.dirname, 'support/sdk-client.py'), 'asyncio'],
};

/** A generator of random numbers from 0 to 1 that returns the same numbers for the same seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function planFrom(random: () => number): () => Disturbance | null {
  const bytes = () => Math.floor(random() * MAX_BYTES);
  const plans: readonly (() => Disturbance)[] = [
    () => ({ kind: 'refuse' }),
    () => ({ kind: 'cut-request', bytes: Math.floor(random() * 600) }),
    () => ({ kind: 'cut-answer', bytes: bytes() }),
    () => ({ kind: 'cut-answer', bytes: bytes() }),
    () => ({ kind: 'fall-silent', bytes: bytes() }),
    () => ({ kind: 'bad-gateway', isPassedOn: random() < 0.5 }),
  ];
  return () => (random() < DISTURBED_SHARE ? (plans[Math.floor(random() * plans.length)]?.() ?? null) : null);
}

/** Two answers with a tool between them. The text depends on the attempt, so void text cannot be taken for the answer. */
function playModel({ model }: Rig): void {
  model.onCall = async (call) => {
    const { prompt, attempt, runId } = call.request;
    const isFirst = prompt.every(({ kind }) => kind !== 'tool_output');
    for (const word of ['One', 'two', 'three', 'four', 'five']) {
      await call.text(`${word} of ${runId} in attempt ${attempt}. `);
      await sleep(20);
    }
    if (isFirst) await call.toolCall('call_1', 'echo', '{}');
    await call.end();
  };
}

/** Kills the server and starts another on the same data, until the signal aborts. Returns the number of kills. */
async function killNowAndThen(rig: Rig, upMs: number, signal: AbortSignal): Promise<number> {
  for (let kills = 0; ; kills += 1) {
    const isOver = await sleep(upMs, false, { signal }).catch(() => true);
    if (isOver) return kills;
    await rig.servers.at(-1)?.kill();
    await rig.add();
  }
}

async function runClient(program: readonly string[], job: ClientJob, onReport: (report: ClientReport) => void) {
  const [command = '', ...args] = program;
  const env = { ...process.env, ...PYTHON_ENV };
  const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'inherit'] });
  createInterface({ input: child.stdout }).on('line', (line) => onReport(JSON.parse(line)));
  child.stdin.end(`${JSON.stringify(job)}\n`);
  const code = await new Promise((resolve) => child.once('close', resolve));
  expectEqual('exit code of the client', code, 0);
}

interface StoredRun {
  readonly runId: string;
  readonly usageRequestId: string;
  readonly status: string;
  readonly message: string;
}

async function allOf<T>(rig: Rig, path: string): Promise<T[]> {
  const items: T[] = [];
  for (let cursor = ''; ; ) {
    const { body } = await (rig.servers.at(-1) ?? rig.server()).api.get(`${rig.path}/${path}?limit=200${cursor}`);
    items.push(...body.items);
    if (body.nextCursor === null) return items;
    cursor = `&cursor=${body.nextCursor}`;
  }
}

const getKinds = ({ done }: DisturbingRelay) => {
  const counts: Record<string, number> = {};
  for (const { kind } of done) counts[kind.replace('-', '_')] = (counts[kind.replace('-', '_')] ?? 0) + 1;
  return counts;
};

/** How many of the ids are of each client. */
const byClient = (ids: readonly string[]) =>
  Object.fromEntries(Object.keys(CLIENTS).map((name) => [name, ids.filter((id) => id.startsWith(`${name}-`)).length]));

const NONE = byClient([]);

test('our clients lose and repeat nothing through a bad proxy', async (t) => {
  const fault = plantedFault();
  const missing = await missingService('python');
  if (missing !== null) return t.skip(missing);
  const total = scale(450, 10_000);
  const seed = Date.now() % 2 ** 31;
  process.stdout.write(`seed ${seed}\n`);
  await using rig = await Rig.start();
  const allowances = { unit: 'runs', limit: 10 * total, period: 'lifetime' };
  await rig.prepare({ apiIntegrationId: INTEGRATION, agency: 'test', defaultAgent: 'Clerk', allowances }, CONSUMER);
  playModel(rig);
  await using relay = await DisturbingRelay.start(
    () => Number(new URL(rig.servers.at(-1)?.url ?? '').port),
    planFrom(randomFrom(seed)),
  );
  const over = new AbortController();
  // Between a start of the server and its next kill: several times a run's duration.
  const upMs = scale(3000, 8000);
  const killing = killNowAndThen(rig, upMs, over.signal);
  const reports: ClientReport[] = [];
  const programs = Object.entries(CLIENTS);
  const clients = programs.map(([name, program], index) => {
    const ids = Array.from({ length: total }, (_, n) => `${name}-${n}`).filter((_, n) => n % programs.length === index);
    const job = { baseUrl: relay.url, apiKey: TEST_API_KEY, integration: INTEGRATION, consumerId: CONSUMER, ids };
    const limits = { concurrency: CONCURRENCY, silenceMs: SILENCE_MS, fault };
    return runClient(program, { ...job, ...limits }, (report) => reports.push(report));
  });
  await within('all runs', MAX_MINUTES * 60_000, Promise.all(clients)).finally(() => over.abort());
  const kills = await killing;
  // Runs that a faulty client left continue.
  await until('no run is active', async () =>
    (await allOf<StoredRun>(rig, 'runs')).every(({ status }) => status !== 'admitted' && status !== 'running'),
  );

  const runs = await allOf<StoredRun>(rig, 'runs');
  const byId = new Map(runs.map((run) => [run.usageRequestId, run]));
  const lost = reports.filter(({ id, runId }) => runId === null || byId.get(id)?.status !== 'completed');
  const wrong = reports.filter(({ id, runId, text }) => runId !== null && byId.get(id)?.message !== text);
  const records = await allOf<{ readonly charged: { readonly amount: number } | null }>(rig, 'usage');
  const charged = records.reduce((sum, record) => sum + (record.charged?.amount ?? 0), 0);
  const first = lost[0] ?? wrong[0];
  if (first !== undefined)
    process.stdout.write(`first: ${JSON.stringify(first)} ${JSON.stringify(byId.get(first.id))}\n`);
  expectEqual('runs', reports.length, total);
  const started = new Set(reports.map(({ id }) => id));
  const unknown = runs.map(({ usageRequestId }) => usageRequestId).filter((id) => !started.has(id));
  expectEqual('doubled', byClient(unknown), NONE);
  // No id may have two runs. A client that counts a request as refused has fewer.
  if (fault === null) expectEqual('stored runs', runs.length, total);
  expectEqual('lost', byClient(lost.map(({ id }) => id)), NONE);
  expectEqual('wrong_text', byClient(wrong.map(({ id }) => id)), NONE);
  expectEqual('charged', charged, total);
  const disturbed = reports.filter(({ requests }) => requests > 1).length;
  expectAtLeast('disturbed runs', disturbed, 0.3 * total);
  expectAtLeast('kills of the server', kills, 1);
  const counts = { disturbed, kills, ...getKinds(relay), seed };
  count({ runs: reports.length, lost: 0, doubled: 0, charged, wrong_text: 0, ...counts });
});
