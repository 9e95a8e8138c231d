import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { STORES, type StoreName } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { ScriptedServer } from './support/scripted-server.ts';

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
    await Promise.all([look(), look()]);
    await look();
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
    await look();
    await rig.member(integration, 'nobody');
    await look();
    const [tick] = await ticks(schedule.scheduleId);
    assert.deepEqual([tick.runId, tick.code], [null, 'member_not_found']);
    assert.deepEqual(await runs(), []);
  });

  test('a schedule is paused, resumed, started by hand and deleted', async (t) => {
    cites(t, 'contract-22-pause', 'contract-22-patch', 'contract-22-run', 'contract-22-delete', 'contract-22-unknown');
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
}
