import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, test } from 'node:test';
import { notAudited } from '@runwire/server/src/audit/audit.ts';
import { temporaryFolder } from '@runwire/server/testing';
import { STORES, type StoreName, startTestServer } from '@runwire/test-kit';
import { backup } from '../packages/server/src/commands/backup.ts';
import { restore } from '../packages/server/src/commands/restore.ts';
import { createSchedule } from '../packages/server/src/schedules/create-schedule.ts';
import { nextTick, ticksBetween } from '../packages/server/src/schedules/tick-times.ts';
import { cites } from '../requirements/cite.ts';
import { askStore } from './support/ask-store.ts';
import { Cluster } from './support/cluster.ts';
import { eventually } from './support/eventually.ts';
import { ScriptedServer } from './support/scripted-server.ts';
import { missingService } from './support/services.ts';

for (const store of STORES) describe(store, () => tests(store));

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** A clock that the test sets. The loop looks only when the test asks it to. */
const clock = { at: Date.parse('2030-01-07T07:59:30.000Z') };

function tests(store: StoreName): void {
  const rig = ScriptedServer.shared({
    store,
    clock: () => clock.at,
    limits: { schedulesMs: 3_600_000 },
  });
  let integration = '';
  let path = '';
  beforeEach(async () => {
    clock.at = Date.parse('2030-01-07T07:59:30.000Z');
    integration = await rig.integration();
    path = `/v2/integrations/${integration}/schedules`;
    rig.controller.onCall = (call) => call.end();
  });

  const look = () => rig.server.server.probes.lookAtSchedules();
  const create = async (body: object = {}) => {
    const answer = await rig.api.post(path, {
      name: 'Weekly',
      cron: '0 9 * * 1',
      timezone: 'Europe/Berlin',
      request: { message: 'Report for {{tick}}.' },
      ...body,
    });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return answer.body;
  };
  const ticks = async (scheduleId: string) => (await rig.api.get(`${path}/${scheduleId}/ticks`)).body.items;
  const runs = async () => (await rig.api.get(`/v2/integrations/${integration}/runs`)).body.items;

  const countTicks = async () => {
    const page = String((await rig.api.get('/metrics')).body);
    const count = (outcome: string) =>
      Number(new RegExp(`^runwire_schedule_ticks_total\\{outcome="${outcome}"\\} (\\d+)$`, 'm').exec(page)?.[1]);
    return { run: count('run'), refusal: count('refusal') };
  };

  test('a tick starts one run with the id of the tick', async (t) => {
    cites(
      t,
      'contract-22-create',
      'contract-22-reads',
      'contract-22-ticks',
      'contract-22-tick-time',
      'contract-22-new-chat',
    );
    cites(t, 'contract-3-schedules');
    const schedule = await create();
    assert.deepEqual(
      { ...schedule, scheduleId: '', createdAt: '', updatedAt: '' },
      {
        scheduleId: '',
        name: 'Weekly',
        cron: '0 9 * * 1',
        everySeconds: null,
        at: null,
        timezone: 'Europe/Berlin',
        catchUp: 'latest',
        active: true,
        pausedReason: null,
        nextTickAt: '2030-01-07T08:00:00.000Z',
        createdAt: '',
        updatedAt: '',
        request: { message: 'Report for {{tick}}.' },
      },
    );
    await look();
    assert.deepEqual(await ticks(schedule.scheduleId), []);
    clock.at += 30_000;
    const before = await countTicks();
    await Promise.all([look(), look()]);
    await look();
    const after = await countTicks();
    assert.deepEqual([after.run - before.run, after.refusal - before.refusal], [1, 0]);
    const [run, ...others] = await runs();
    assert.deepEqual(others, []);
    const tick = '2030-01-07T08:00:00.000Z';
    assert.equal(run.usageRequestId, `schedule:${schedule.scheduleId}:${tick}`);
    const { body } = await rig.api.get(`/v2/integrations/${integration}/chats/${run.chatId}/messages`);
    assert.equal(body.items.at(-1).content, 'Report for 2030-01-07T08:00:00.000Z.');
    assert.deepEqual(await ticks(schedule.scheduleId), [
      { tick, runId: run.runId, code: null, error: null, at: new Date(clock.at).toISOString() },
    ]);
    assert.equal((await rig.api.get(`${path}/${schedule.scheduleId}`)).body.nextTickAt, '2030-01-14T08:00:00.000Z');
    assert.deepEqual(
      (await rig.api.get(path)).body.items.map((item: { name: string }) => item.name),
      ['Weekly'],
    );
    clock.at += 7 * 24 * HOUR;
    await look();
    assert.equal((await ticks(schedule.scheduleId)).length, 2);
    assert.equal(new Set((await runs()).map(({ chatId }: { chatId: string }) => chatId)).size, 2);
  });

  test('a refusal is recorded with its code and not tried again', async (t) => {
    cites(t, 'contract-22-refusal');
    const schedule = await create({ request: { message: 'Hi', consumerId: 'nobody' } });
    clock.at += MINUTE;
    const before = await countTicks();
    await look();
    await rig.member(integration, 'nobody');
    await look();
    const after = await countTicks();
    assert.deepEqual([after.run - before.run, after.refusal - before.refusal], [0, 1]);
    const [tick] = await ticks(schedule.scheduleId);
    assert.deepEqual([tick.runId, tick.code], [null, 'member_not_found']);
    assert.deepEqual(await runs(), []);
  });

  test('a schedule is paused, resumed, started by hand and deleted', async (t) => {
    cites(t, 'contract-22-pause', 'contract-22-patch', 'contract-22-run', 'contract-22-delete', 'contract-22-unknown');
    cites(t, 'contract-8-404-schedule-not-found');
    const { scheduleId } = await create({ cron: null, everySeconds: 60 });
    const one = `${path}/${scheduleId}`;
    const paused = (await rig.api.patch(one, { active: false })).body;
    assert.deepEqual([paused.active, paused.nextTickAt, paused.pausedReason], [false, null, null]);
    clock.at += 10 * MINUTE;
    await look();
    const resumed = (await rig.api.patch(one, { active: true, name: 'Often' })).body;
    assert.deepEqual([resumed.active, resumed.name], [true, 'Often']);
    assert.equal(Date.parse(resumed.nextTickAt), clock.at + MINUTE);
    await look();
    assert.deepEqual(await ticks(scheduleId), []);
    const { status, body } = await rig.api.post(`${one}/run`, {});
    assert.equal(status, 202);
    assert.equal((await rig.api.get(`/v2/integrations/${integration}/runs/${body.runId}`)).body.chatId, body.chatId);
    assert.deepEqual(await ticks(scheduleId), []);
    assert.equal((await rig.api.delete(one)).status, 204);
    for (const answer of [rig.api.get(one), rig.api.delete(one), rig.api.patch(one, {}), rig.api.post(`${one}/run`)]) {
      const { status, body } = await answer;
      assert.deepEqual([status, body.code], [404, 'schedule_not_found']);
    }
    clock.at += MINUTE;
    await look();
    assert.equal((await runs()).length, 1);
  });

  test('callers cannot use the ids of ticks', async (t) => {
    cites(t, 'contract-22-reserved');
    const body = { apiIntegrationId: integration, usageRequestId: 'schedule:sch_1:2030' };
    const { status } = await rig.api.complete(body);
    assert.equal(status, 400);
  });

  test('wrong times and requests are refused', async (t) => {
    cites(
      t,
      'contract-22-one-time',
      'contract-22-cron',
      'contract-22-timezone',
      'contract-22-request',
      'contract-22-at',
    );
    const request = { message: 'Hi' };
    const body = { name: 'a', cron: '0 9 * * *', request };
    const wrong: [object, RegExp][] = [
      [{ cron: null }, /Exactly one of/],
      [{ everySeconds: 60 }, /Exactly one of/],
      [{ cron: '0 9 * *' }, /five fields/],
      [{ cron: '0 0 30 2 *' }, /never ticks/],
      [{ cron: '*/7 * * * * *' }, /10 apart/],
      [{ cron: '0,15,55 * * * * *' }, /10 apart/],
      [{ timezone: '+01:00' }, /IANA/],
      [{ cron: null, everySeconds: 59 }, /everySeconds/],
      [{ cron: null, at: new Date(clock.at).toISOString() }, /future/],
      [{ cron: null, at: '9999-12-31T23:00:00-23:00' }, /`at`/],
      [{ request: { ...request, usageRequestId: 'a' } }, /usageRequestId/],
      [{ request: { ...request, history: [] } }, /history/],
      [{ request: { ...request, answers: [] } }, /answers/],
      [{ request: { ...request, apiIntegrationId: 'other' } }, /apiIntegrationId/],
      [{ request: { message: 'x'.repeat(300_000) } }, /262144 bytes/],
      [{ request: { ...request, attachments: [{ type: 'input_image', image_url: 'http://a' }] } }, /image_url/],
    ];
    for (const [change, sentence] of wrong) {
      const { status, body: answer } = await rig.api.post(path, { ...body, ...change });
      assert.equal(status, 400, JSON.stringify(change));
      assert.match(answer.error, sentence);
    }
    const { scheduleId } = await create({ request: { ...request, apiIntegrationId: integration } });
    const changed = (await rig.api.patch(`${path}/${scheduleId}`, { everySeconds: 90 })).body;
    assert.deepEqual([changed.cron, changed.everySeconds, changed.at], [null, 90, null]);
    assert.equal((await rig.api.patch(`${path}/${scheduleId}`, { cron: null })).status, 400);
  });

  test('an interval counts from the creation, and one time ticks once', async (t) => {
    cites(t, 'contract-22-every', 'contract-22-at');
    const every = await create({ cron: null, everySeconds: 90 });
    const once = await create({ cron: null, at: new Date(clock.at + MINUTE).toISOString() });
    const from = clock.at;
    assert.equal(Date.parse(every.nextTickAt), from + 90_000);
    clock.at += 100_000;
    await look();
    clock.at += 90_000;
    await look();
    const at = (items: { tick: string }[]) => items.map(({ tick }) => (Date.parse(tick) - from) / 1000);
    assert.deepEqual(at(await ticks(every.scheduleId)), [180, 90]);
    assert.deepEqual(at(await ticks(once.scheduleId)), [60]);
    const { body } = await rig.api.get(`${path}/${once.scheduleId}`);
    assert.deepEqual([body.active, body.nextTickAt, body.pausedReason], [false, null, null]);
    assert.equal((await rig.api.patch(`${path}/${once.scheduleId}`, { active: true })).status, 400);
  });

  test('missed ticks run as catchUp tells', async (t) => {
    cites(t, 'contract-22-catch-up');
    const made: string[] = [];
    for (const catchUp of ['latest', 'none', 'all']) {
      made.push((await create({ cron: null, everySeconds: 3600, catchUp })).scheduleId);
    }
    clock.at += 30 * HOUR + 2 * MINUTE;
    await look();
    await look();
    const counts = [];
    for (const id of made) counts.push((await ticks(id)).length);
    assert.deepEqual(counts, [1, 0, 24]);
    clock.at += HOUR - 2 * MINUTE;
    await look();
    assert.equal((await ticks(made[1] ?? '')).length, 1);
  });

  test('ten failures or refusals in a row pause the schedule', async (t) => {
    cites(t, 'contract-22-failures');
    const { body: endpoint } = await rig.api.post(`/v2/integrations/${integration}/webhooks`, { url: null });
    rig.controller.onCall = (call) => call.fail('model_error', 'No.');
    const { scheduleId } = await create({ cron: null, everySeconds: 60 });
    const refused = await create({ cron: null, everySeconds: 60, request: { message: 'a', consumerId: 'nobody' } });
    for (let tick = 0; tick < 10; tick += 1) {
      clock.at += MINUTE;
      await look();
      await eventually('the run has failed', async () => {
        const items = await runs();
        return items.length === tick + 1 && items.every(({ status }: { status: string }) => status === 'failed');
      });
    }
    const other = (await rig.api.get(`${path}/${refused.scheduleId}`)).body;
    assert.equal(other.active, false);
    assert.match(other.pausedReason, /^10 ticks in a row .* member_not_found\.$/);
    assert.equal((await rig.api.get(`${path}/${scheduleId}`)).body.active, true);
    clock.at += MINUTE / 2;
    await look();
    const paused = (await rig.api.get(`${path}/${scheduleId}`)).body;
    assert.deepEqual([paused.active, paused.nextTickAt], [false, null]);
    assert.match(paused.pausedReason, /^10 ticks in a row/);
    assert.equal((await ticks(scheduleId)).length, 10);
    const deliveries = await rig.api.get(`/v2/integrations/${integration}/webhooks/${endpoint.endpointId}/deliveries`);
    const types = deliveries.body.items.map(({ type }: { type: string }) => type);
    assert.equal(types.filter((type: string) => type === 'schedule.paused').length, 2);
    const resumed = (await rig.api.patch(`${path}/${scheduleId}`, { active: true })).body;
    assert.deepEqual([resumed.active, resumed.pausedReason], [true, null]);
  });

  test('a tick refuses the run of another request, and finds its own after a change', async (t) => {
    cites(t, 'contract-22-foreign', 'contract-22-once');
    const { scheduleId, nextTickAt } = await create();
    const own = await create();
    const { body } = await rig.api.post(`${path}/${scheduleId}/run`);
    const id = `schedule:${scheduleId}:${nextTickAt}`;
    await askStore(rig.server.dataDir, `update runs set usage_request_id = '${id}' where run_id = '${body.runId}'`);
    clock.at += MINUTE;
    await look();
    const [foreign] = await ticks(scheduleId);
    assert.deepEqual([foreign.runId, foreign.code], [null, 'usage_request_id_reused']);
    const [{ runId }] = await ticks(own.scheduleId);
    const back = `next_tick_at = ${Date.parse(nextTickAt)}, due_at = 1, last_tick_at = 0, request_json = '{"message":"b"}'`;
    await askStore(rig.server.dataDir, 'delete from schedule_ticks');
    await askStore(rig.server.dataDir, `update schedules set ${back} where schedule_id = '${own.scheduleId}'`);
    await look();
    assert.deepEqual(
      (await ticks(own.scheduleId)).map((tick: { runId: string }) => tick.runId),
      [runId],
    );
  });

  test('erasing a person or deleting an integration deletes their schedules', async (t) => {
    cites(t, 'contract-22-erasure');
    await rig.member(integration, 'ann');
    const { scheduleId } = await create({ cron: null, everySeconds: 60, request: { message: 'a', consumerId: 'ann' } });
    const other = await create();
    clock.at += MINUTE;
    await look();
    await eventually('the run has ended', async () => (await runs())[0]?.status === 'completed');
    const member = `/v2/integrations/${integration}/members/ann`;
    assert.equal((await rig.api.delete(`${member}?erase=true`)).status, 202);
    await eventually('erased', async () => (await rig.api.get(`${member}/erasure`)).body.status === 'erased');
    assert.equal((await rig.api.get(`${path}/${scheduleId}`)).status, 404);
    const left = await askStore(
      rig.server.dataDir,
      `select schedule_id from schedule_ticks where schedule_id = '${scheduleId}'`,
    );
    assert.deepEqual(left, []);
    assert.equal((await rig.api.get(`${path}/${other.scheduleId}`)).status, 200);
    assert.equal((await rig.api.delete(`/v2/integrations/${integration}`)).status, 204);
    assert.deepEqual(
      await askStore(rig.server.dataDir, `select schedule_id from schedules where integration_id = '${integration}'`),
      [],
    );
  });

  test('an integration has at most 1000 schedules, and tokens cannot use them', async (t) => {
    cites(t, 'contract-22-limit', 'contract-22-tokens', 'contract-8-409-too-many-schedules');
    const { scheduleId } = await create({ active: false });
    const columns = `integration_id, name_json, timezone, request_json, catch_up, active, last_tick_at, tries, failures,
      uncounted_runs_json, created_at, updated_at`;
    await askStore(
      rig.server.dataDir,
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < 999)
       insert into schedules (schedule_id, ${columns}) select schedule_id || i, ${columns} from schedules, n
       where schedule_id = '${scheduleId}'`,
    );
    const { status, body } = await rig.api.post(path, { name: 'a', cron: '0 9 * * 1', request: { message: 'a' } });
    assert.deepEqual([status, body.code], [409, 'too_many_schedules']);
    await rig.member(integration, 'ann');
    const can = ['run', 'read'];
    const { body: minted } = await rig.api.post(`/v2/integrations/${integration}/client_tokens`, {
      consumerId: 'ann',
      can,
    });
    assert.equal((await rig.api.as(minted.clientToken).get(path)).status, 403);
    await askStore(rig.server.dataDir, `delete from schedules where integration_id = '${integration}'`);
  });

  test('owners take turns, and old ticks are swept', async (t) => {
    cites(t, 'contract-22-fair', 'contract-22-kept');
    const few = await rig.owner(`few-${store}@example.com`);
    for (let made = 0; made < 40; made += 1) await create();
    const request = { message: 'a' };
    await few.api.post(`/v2/integrations/${few.apiIntegrationId}/schedules`, { name: 'a', cron: '0 8 * * 1', request });
    clock.at += MINUTE;
    await look();
    const [run] = (await few.api.get(`/v2/integrations/${few.apiIntegrationId}/runs`)).body.items;
    const others = (await runs()).map(({ createdAt }: { createdAt: string }) => createdAt);
    const before = others.filter((at: string) => at < run.createdAt);
    assert.ok(before.length <= 16, `${before.length} runs of the other owner were first`);
    assert.equal(await rig.server.server.probes.sweepTicks(), 0);
    clock.at += 8 * 24 * HOUR;
    assert.ok((await rig.server.server.probes.sweepTicks()) >= 41);
  });

  test('a tick is tried again after a 503, until the next tick', async (t) => {
    cites(t, 'contract-22-retry', 'contract-22-no-reader');
    let at = Date.parse('2030-01-01T00:00:00Z');
    const limits = { activeRuns: 1, schedulesMs: 3_600_000, disconnectMs: 200 };
    await using small = await ScriptedServer.start({ store, clock: () => at, limits });
    const integration = await small.integration({ onDisconnect: 'cancel' });
    const path = `/v2/integrations/${integration}/schedules`;
    const { body } = await small.api.post(path, { name: 'a', everySeconds: 60, request: { message: 'a' } });
    const look = () => small.server.server.probes.lookAtSchedules();
    const ticks = async () => (await small.api.get(`${path}/${body.scheduleId}/ticks`)).body.items;
    const held = await small.hold({ message: 'Hold' });
    at += MINUTE;
    await look();
    assert.deepEqual(await ticks(), []);
    at += MINUTE;
    await look();
    assert.deepEqual(
      (await ticks()).map(({ code }: { code: string }) => code),
      ['unavailable'],
    );
    await held.finish();
    at += 2000;
    await look();
    const [{ runId }] = await ticks();
    assert.notEqual(runId, null);
    const call = await small.controller.nextCall();
    // With `onDisconnect: cancel` a run without readers is cancelled sooner.
    await new Promise((resolve) => setTimeout(resolve, 500));
    await call.end();
    const run = `/v2/integrations/${integration}/runs/${runId}`;
    await eventually('the run has ended', async () => (await small.api.get(run)).body.status === 'completed');
  });
}

test('the ticks of an outage are found without a walk through all of them', () => {
  const timing = { kind: 'cron', cron: '*/10 * * * * *', timezone: 'Europe/Berlin' } as const;
  const started = performance.now();
  for (let i = 0; i < 60; i += 1) assert.equal(ticksBetween(timing, clock.at - 24 * HOUR, clock.at, 24).length, 24);
  // All schedules that are due after an outage are planned in one turn of the event loop.
  assert.ok(performance.now() - started < 5000);
});

test('a clock change is a gap or a repetition', (t) => {
  cites(t, 'contract-22-clock-changes');
  const cases: [string, string, string, string[]][] = [
    // Berlin: 02:00 becomes 03:00, and 03:00 becomes 02:00.
    ['Europe/Berlin', '30 2 * * *', '2026-03-28T12:00Z', ['2026-03-29T01:00Z', '2026-03-30T00:30Z']],
    ['Europe/Berlin', '30 2 * * *', '2026-10-24T12:00Z', ['2026-10-25T00:30Z', '2026-10-26T01:30Z']],
    [
      'Europe/Berlin',
      '*/30 * * * *',
      '2026-03-29T00:00Z',
      ['2026-03-29T00:30Z', '2026-03-29T01:00Z', '2026-03-29T01:30Z'],
    ],
    ['Europe/Berlin', '*/30 * * * *', '2026-10-25T00:00Z', ['2026-10-25T00:30Z', '2026-10-25T02:00Z']],
    ['America/New_York', '15 2 * * *', '2026-03-07T12:00Z', ['2026-03-08T07:00Z', '2026-03-09T06:15Z']],
    ['America/New_York', '30 1 * * *', '2026-10-31T12:00Z', ['2026-11-01T05:30Z', '2026-11-02T06:30Z']],
    // Lord Howe changes by half an hour.
    ['Australia/Lord_Howe', '15 2 * * *', '2026-10-03T00:00Z', ['2026-10-03T15:30Z', '2026-10-04T15:15Z']],
    ['Australia/Lord_Howe', '45 1 * * *', '2026-04-04T00:00Z', ['2026-04-04T14:45Z', '2026-04-05T15:15Z']],
  ];
  for (const [timezone, cron, from, expected] of cases) {
    let tick = Date.parse(from);
    for (const next of expected) {
      tick = nextTick({ kind: 'cron', cron, timezone }, tick) ?? 0;
      assert.equal(new Date(tick).toISOString(), new Date(next).toISOString(), `${timezone} ${cron}`);
    }
  }
});

test('a node of the version before refuses new schedules', async (t) => {
  cites(t, 'contract-22-earlier-nodes');
  const deps = { earlierNodes: { areAlive: () => true } } as unknown as Parameters<typeof createSchedule>[0];
  const owner = { ownerId: '', integrationId: '' } as unknown as Parameters<typeof createSchedule>[1];
  const create = createSchedule(deps, owner, { name: 'a', cron: '* * * * *', request: { message: 'a' } }, notAudited);
  await assert.rejects(create, { code: 'unavailable' });
});

test('a restored schedule continues after the restore', async (t) => {
  cites(t, 'contract-22-restore');
  const [folder, target] = [temporaryFolder(), temporaryFolder()];
  t.after(() => {
    for (const path of [folder, target]) rmSync(path, { recursive: true, force: true });
  });
  let at = Date.now() - HOUR;
  const overrides = { clock: () => at, limits: { schedulesMs: 3_600_000 } };
  const path = '/v2/integrations/demo/schedules';
  let id = '';
  {
    await using server = await startTestServer({ ...overrides, store: 'sqlite', dataDir: folder });
    const { body } = await server.api.post(path, {
      name: 'a',
      everySeconds: 600,
      catchUp: 'all',
      request: { message: 'a' },
    });
    id = body.scheduleId;
  }
  const destination = join(folder, 'backup');
  await backup({ RUNWIRE_DATA_DIR: folder }, destination);
  await restore({ RUNWIRE_DATA_DIR: target }, destination);
  const restoredAt = Date.now();
  at = restoredAt;
  await using server = await startTestServer({ ...overrides, store: 'sqlite', dataDir: target });
  const { nextTickAt } = (await server.api.get(`${path}/${id}`)).body;
  await server.server.probes.lookAtSchedules();
  assert.deepEqual((await server.api.get(`${path}/${id}/ticks`)).body.items, []);
  assert.ok(Date.parse(nextTickAt) > restoredAt - MINUTE);
  at = Date.parse(nextTickAt);
  await server.server.probes.lookAtSchedules();
  assert.equal((await server.api.get(`${path}/${id}/ticks`)).body.items.length, 1);
});

describe('several nodes', { skip: (await missingService('postgres')) ?? false }, () => {
  test('start each tick once', async (t) => {
    cites(t, 'contract-22-once');
    let at = Date.parse('2030-01-01T00:00:00Z');
    await using cluster = await Cluster.start(3, {
      clock: () => at,
      limits: { schedulesMs: 3_600_000, accountsVersionMs: 100 },
    });
    for (const node of cluster.nodes) node.controller.onCall = (call) => call.end();
    const { api } = cluster.node(0);
    const path = '/v2/integrations/demo/schedules';
    for (let made = 0; made < 30; made += 1) {
      await api.post(path, { name: 'a', everySeconds: 60, request: { message: 'a' } });
    }
    const [one, other] = cluster.nodes;
    // In the third minute the nodes compete, and one of them may claim everything.
    for (const looking of [[one], [other], cluster.nodes]) {
      at += MINUTE;
      await Promise.all(looking.map((node) => node?.server.server.probes.lookAtSchedules()));
    }
    const [counts] = await cluster.query(`select count(*) as ticks, count(distinct run_id) as runs,
      (select count(*) from runs) as admitted, (select count(distinct node_id) > 1 from runs) as shared from schedule_ticks`);
    assert.deepEqual(counts, { ticks: '90', runs: '90', admitted: '90', shared: true });
  });
});
