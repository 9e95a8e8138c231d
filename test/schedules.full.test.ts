import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ApiClient, PostgresServer, Rig, SHORT_LEASE, temporaryFolder, type WaitPoint } from '@runwire/test-kit';
import { count, scale } from '@runwire/test-kit/scale.ts';
import { expectAtLeast, expectEqual, until, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import { backup } from '../packages/server/src/commands/backup.ts';
import { restore } from '../packages/server/src/commands/restore.ts';
import { Cluster } from './support/cluster.ts';
import { missingService } from './support/services.ts';

/* Schedules tick while nodes are killed, the database is away, and clocks jump and change; then a backup is restored. */

const NODES = 3;
const PATH = '/v2/integrations/demo/schedules';
const SCHEDULES = scale(20, 200);
const [HOUR, PERIOD_MS] = [3_600_000, scale(10_000, 20_000)];
const POINTS: readonly WaitPoint[] = [
  'admit.after-commit',
  'schedule.before-commit',
  'admit.before-commit',
  'schedule.after-commit',
];
const PATIENCE = { limitMs: 3 * WAIT_MS, pauseMs: 200 };

type Query = (text: string) => Promise<Record<string, unknown>[]>;
const numbersIn = async (query: Query, text: string): Promise<Record<string, number>> => {
  const [row = {}] = await query(text);
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, Number(value)]));
};

/** Every tick has one run, or the refusal that its request deserves. */
async function expectOnce(what: string, query: Query, since = 0) {
  await until(
    `${what}: end of all runs`,
    async () => (await query('select 1 from active_runs')).length === 0,
    PATIENCE,
  );
  const found = await numbersIn(
    query,
    `select count(run_id) as ticks, count(distinct run_id) as distinct_runs, count(code) as refusals,
       (select count(*) from runs where created_at >= ${since}) as runs,
       count(*) filter (where code = 'unavailable') as unavailable,
       count(*) filter (where code <> 'unavailable'
         and not (code = 'member_not_found' and request_json like '%nobody%')) as wrong,
       count(*) filter (where run_id is not null and request_json like '%nobody%') as not_refused
     from schedule_ticks join schedules using (schedule_id) where recorded_at >= ${since}`,
  );
  const { ticks = 0, runs = 0, refusals = 0, unavailable = 0 } = found;
  expectEqual(`${what}: runs for ${ticks} ticks`, runs, ticks);
  expectEqual(`${what}: ticks with a run of their own`, found.distinct_runs, ticks);
  expectEqual(
    `${what}: refusals with a wrong code, runs of refused requests`,
    [found.wrong, found.not_refused],
    [0, 0],
  );
  return { ticks, runs, refusals, unavailable, twice: ticks - (found.distinct_runs ?? 0) };
}

/** Every tenth request is refused. */
async function createAll(api: ApiClient, times: readonly object[]): Promise<void> {
  for (const [index, time] of times.entries()) {
    const consumerId = index % 10 === 9 ? { consumerId: 'nobody' } : {};
    const request = { message: 'Report for {{tick}}.', ...consumerId };
    const { status } = await api.post(PATH, { name: `${index}`, request, catchUp: 'all', ...time });
    expectEqual('status of a schedule', status, 201);
  }
}

/** Three nodes in processes of their own. */
async function openRig(databaseUrl: string): Promise<Rig> {
  const rig = await Rig.open({ databaseUrl, limits: { ...SHORT_LEASE, schedulesMs: 500, accountsVersionMs: 200 } });
  rig.model.onCall = (call) => void call.end().catch(() => {});
  return rig;
}
const addNodes = async (rig: Rig): Promise<void> => {
  for (let node = 0; node < NODES; node += 1) await rig.add();
};

/** Resolves when each schedule whose request is valid has ticked again. */
async function moreTicks(rig: Rig, what: string): Promise<void> {
  const since = Date.now();
  const ticked = async () =>
    await numbersIn(
      rig.query,
      `select count(distinct schedule_id) as valid from schedule_ticks where run_id is not null and recorded_at >= ${since}`,
    );
  await until(`${what}: a tick of each schedule`, async () => (await ticked()).valid === 0.9 * SCHEDULES, PATIENCE);
}

/** Pauses all schedules between two ticks. A dead node's tick is finished by another node. */
async function stopTicks(rig: Rig): Promise<void> {
  await until(
    'all schedules are paused',
    async () => {
      // Rows that a node is claiming are left for the next try: waiting for them could be a deadlock.
      await rig.query(`update schedules set active = 0, next_tick_at = null, due_at = null where schedule_id in (
        select schedule_id from schedules where claimed_by is null and retry_code is null for update skip locked)`);
      return (await rig.query('select 1 from schedules where due_at is not null')).length === 0;
    },
    PATIENCE,
  );
}

const expectNoneLost = async (rig: Rig, what: string, since = 0): Promise<void> => {
  const { lost } = await numbersIn(
    rig.query,
    `select coalesce(sum(missing), 0) as lost from (
       select (max(tick_at) - min(tick_at)) / ${PERIOD_MS} + 1 - count(*) as missing
       from schedule_ticks where recorded_at >= ${since} group by schedule_id) as one`,
  );
  expectEqual(`${what}: lost ticks`, lost, 0);
};

/** A node whose clock is ahead is the first to tick, and dies there. */
async function killNodes(rig: Rig): Promise<number> {
  const points = scale(POINTS.slice(0, 2), [...POINTS, ...POINTS]);
  for (const [index, killAt] of points.entries()) {
    const doomed = await rig
      .add({ killAt, killAfter: killAt.startsWith('schedule') ? 2 : 1, aheadMs: PERIOD_MS + index * 100 })
      .catch(() => null);
    if (doomed === null) continue;
    await within(`death at ${killAt}`, WAIT_MS, doomed.gone);
    rig.servers.splice(rig.servers.indexOf(doomed), 1);
  }
  return points.length;
}

async function proveStory(folder: string) {
  await using postgres = await PostgresServer.start();
  await using rig = await openRig(await postgres.database());
  await addNodes(rig);
  const seconds = PERIOD_MS === 10_000 ? '*/10' : '*/20';
  await createAll(
    rig.api(),
    Array.from({ length: SCHEDULES }, () => ({ cron: `${seconds} * * * * *` })),
  );
  await moreTicks(rig, 'first');
  const kills = await killNodes(rig);
  await moreTicks(rig, 'after the kills');
  await postgres.stop();
  await sleep(scale(6000, 30_000));
  await postgres.startAgain();
  await moreTicks(rig, 'after the outage');
  const env = (of: Rig) => ({ RUNWIRE_DATA_DIR: of.dataDir, DATABASE_URL: of.databaseUrl });
  await backup(env(rig), join(folder, 'copy'));
  await moreTicks(rig, 'after the backup');
  await stopTicks(rig);
  const story = await expectOnce('three nodes', rig.query);
  await expectNoneLost(rig, 'three nodes');
  await Promise.all(rig.servers.map((server) => server.kill()));

  await using restored = await openRig(await postgres.database());
  const restoredAt = Date.now();
  await restore(env(restored), join(folder, 'copy'));
  await addNodes(restored);
  await moreTicks(restored, 'after the restore');
  await stopTicks(restored);
  const again = await restored.query(
    `select 1 from schedule_ticks where recorded_at >= ${restoredAt} and tick_at < ${restoredAt}`,
  );
  expectEqual('ticks between backup and restore that ran after it', again.length, 0);
  const later = await expectOnce('restored', restored.query, restoredAt);
  await expectNoneLost(restored, 'restored', restoredAt);
  count({ nodes: NODES, schedules: SCHEDULES, kills, restored_ticks: later.ticks });
  return [story, later];
}

const ZONES = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe'];
const CRONS = ['30 2 * * *', '*/30 1-3 * * *', '15 2 * * *'];
/** Both changes of each zone's clock are within the 24 hours after 08:00 UTC of these days. */
const CHANGES = ['2030-03-09', '2030-03-30', '2030-04-06', '2030-10-05', '2030-10-26', '2030-11-02'];
/** The ends of three gaps, and the first occurrences of three times that are repeated. */
const INSTANTS = [
  ['Europe/Berlin', '2030-03-31T01:00Z'],
  ['Europe/Berlin', '2030-10-27T00:30Z'],
  ['America/New_York', '2030-03-10T07:00Z'],
  ['America/New_York', '2030-11-03T05:30Z'],
  ['Australia/Lord_Howe', '2030-10-05T15:30Z'],
  ['Australia/Lord_Howe', '2030-04-06T14:30Z'],
] as const;

/** Three nodes, whose clocks differ by hours and jump, while the clocks on the wall change. */
async function proveClocks() {
  const offsets = [0, 0, 0];
  let base = Date.parse('2030-01-01T00:00:00Z');
  const limits = { schedulesMs: HOUR, accountsVersionMs: 50 };
  await using cluster = await Cluster.start(0, { limits });
  for (const index of offsets.keys()) await cluster.join({ clock: () => base + (offsets[index] ?? 0) });
  for (const node of cluster.nodes) node.controller.onCall = (call) => call.end();
  const times = ZONES.flatMap((timezone) => CRONS.map((cron) => ({ cron, timezone })));
  await createAll(
    cluster.node(0).api,
    Array.from({ length: scale(18, 54) }, (_, index) => times[index % times.length] ?? {}),
  );
  const look = () => Promise.all(cluster.nodes.map(({ server }) => server.server.probes.lookAtSchedules()));
  const query: Query = (text) => cluster.query(text);
  // Until each node knows that there are schedules.
  await sleep(500);
  let jumps = 0;
  for (const day of CHANGES) {
    for (let step = 0; step <= 4; step += 1) {
      base = Date.parse(`${day}T08:00:00Z`) + step * 6 * HOUR;
      offsets[step % NODES] = [2 * HOUR, -HOUR, 0][jumps % 3] ?? 0;
      jumps += 1;
      await look();
    }
  }
  const sums = await expectOnce('clocks', query);
  const { repeated } = await numbersIn(
    query,
    `select count(*) - count(distinct (schedule_id, to_timestamp(tick_at / 1000) at time zone timezone)) as repeated
     from schedule_ticks join schedules using (schedule_id)`,
  );
  expectEqual('times on the wall that ticked twice', repeated, 0);
  for (const [zone, instant] of INSTANTS) {
    const found = await query(`select 1 from schedule_ticks join schedules using (schedule_id)
      where timezone = '${zone}' and tick_at = ${Date.parse(instant)} and run_id is not null`);
    expectAtLeast(`ticks in ${zone} at ${instant}`, found.length, 1);
  }
  count({ jumps, clock_changes: CHANGES.length });
  return sums;
}

test('every tick has one run', { skip: (await missingService('postgres')) ?? false }, async () => {
  const folder = temporaryFolder();
  try {
    for (const sums of [...(await proveStory(folder)), await proveClocks()]) count(sums);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
