import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defineAgency, defineAgent } from '@runwire/agency';
import { hookStore, STORES, type Store, type StoreName, StoreUnavailable, withoutComments } from '@runwire/test-kit';
import { askStore } from './support/ask-store.ts';
import { pickColumn } from './support/columns.ts';
import { eventually } from './support/eventually.ts';
import { ScriptedServer } from './support/scripted-server.ts';

/**
 * A store that refuses every event chunk with this word permanently, and is unavailable for the first ends of such
 * runs.
 */
function refusing(word: string, away = 0): (store: Store) => Store {
  let left = away;
  return hookStore({
    transact: async (name, transact) => {
      if (name === 'takeover' && left > 0) {
        left -= 1;
        throw new StoreUnavailable('away');
      }
      return transact();
    },
    write: (statement, write, params) => {
      const { data } = params as { data?: string };
      if (statement === 'insert event_chunks' && data?.includes(word)) throw new Error('refused by the store');
      return write();
    },
  });
}

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  test('a run whose events the store refuses fails alone; its chat continues', async () => {
    await using rig = await ScriptedServer.start({ store, wrapStore: refusing('poison') });
    const { api } = rig;
    const { reader: good, call: goodCall } = await rig.hold({ chatId: 'good' });
    const { reader: bad, call: badCall, runId } = await rig.hold({ chatId: 'bad', usageRequestId: 'bad' });
    await badCall.text('fine ');
    await goodCall.text('one ');
    await Promise.all([bad.untilText('fine '), good.untilText('one ')]);
    // The first word is stored before the second arrives: only the second is void.
    const stored = `select 1 from event_chunks where run_id = '${runId}' and data like '%fine %'`;
    await eventually('the first word is stored', async () => (await askStore(rig.server.dataDir, stored)).length > 0);
    await badCall.text('poison');
    await goodCall.text('two');
    assert.equal(await bad.over, false, 'the reader is cut, without an end');
    await badCall.closed;
    await goodCall.end();
    await good.whole();
    assert.equal(good.answer, 'one two');
    assert.equal(good.frames.at(-1)?.event, 'end');

    const run = (await api.get(`/v2/integrations/demo/runs/${runId}`)).body;
    assert.deepEqual([run.status, run.error.code], ['failed', 'internal_error']);
    const again = await api.complete({ chatId: 'bad', usageRequestId: 'bad' });
    await again.whole();
    assert.deepEqual(pickColumn(again.frames.slice(-4), 'event'), ['resumed', null, 'messages', 'end']);
    assert.equal(again.answer, 'fine ');
    assert.ok(!again.text.includes('poison'));
    const resumed = await api.events(runId, bad.frames.at(-1)?.id ?? 0);
    await resumed.whole();
    assert.ok(withoutComments(again.text).endsWith(withoutComments(resumed.text)));

    const next = await rig.answer({ chatId: 'bad' }, 'next');
    assert.equal(next.reader.answer, 'next');
  });

  test('the end of a run whose events are refused does not wait for code of its agency', async () => {
    let asked = 0;
    const instructions = () => {
      asked += 1;
      return asked === 1 ? 'Help.' : new Promise<string>(() => {});
    };
    const own = defineAgency({ name: 'Own', agents: [defineAgent({ name: 'Helper', instructions })] });
    await using rig = await ScriptedServer.start({ store, wrapStore: refusing('poison'), agencies: { own } });
    const apiIntegrationId = await rig.integration({ agency: 'own' });
    const { reader, call } = await rig.hold({ apiIntegrationId, chatId: 'bad' });
    await call.text('poison');
    assert.equal(await reader.over, false, 'the reader is cut, without an end');
    const { items } = (await rig.api.get(`/v2/integrations/${apiIntegrationId}/runs`)).body;
    assert.deepEqual([items[0].status, asked], ['failed', 1]);
  });

  test('a run whose events the store refuses ends also after an outage', async () => {
    await using rig = await ScriptedServer.start({ store, wrapStore: refusing('poison', 2) });
    const { reader, call, runId } = await rig.hold({ chatId: 'bad' });
    await call.text('poison');
    assert.equal(await reader.over, false, 'the reader is cut, without an end');
    const run = (await rig.api.get(`/v2/integrations/demo/runs/${runId}`)).body;
    assert.deepEqual([run.status, run.error?.code], ['failed', 'internal_error']);
    const next = await rig.answer({ chatId: 'bad' }, 'next');
    assert.equal(next.reader.answer, 'next');
  });
}
