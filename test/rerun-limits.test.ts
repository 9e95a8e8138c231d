import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defineAgency, defineAgent } from '@runwire/agency';
import { hookStore, STORES, type StoreName, TEST_API_KEY } from '@runwire/test-kit';
import { until } from '@runwire/test-kit/shortfall.ts';
import OpenAI from 'openai';
import { forkForRun } from '../packages/server/src/admission/fork-for-run.ts';
import { cites } from '../requirements/cite.ts';
import { askStore } from './support/ask-store.ts';
import { eventually } from './support/eventually.ts';
import { play, say } from './support/play.ts';
import { refusal, ScriptedServer } from './support/scripted-server.ts';

const agent = defineAgent({ name: 'Lead', description: 'Leads.', instructions: 'You are Lead.', files: false });
const agencies = { shop: defineAgency({ name: 'Shop', agents: [agent] }) };
const WAITS = `select 1 from pg_locks l join pg_stat_activity a using (pid)
  where not l.granted and l.locktype in ('transactionid', 'tuple') and a.datname = current_database()`;

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  test('a rerun has the schema that a compatible API brought', async (t) => {
    cites(t, 'contract-24-inputs');
    await using rig = await ScriptedServer.start({ store, agencies });
    const apiIntegrationId = await rig.integration({ agency: 'shop' });
    play(rig, { Lead: [say('{"n":1}'), say('It is two.'), say('{"n":2}')] });
    const baseURL = `${rig.server.url}/v2/integrations/${apiIntegrationId}/openai/v1`;
    const openai = new OpenAI({ baseURL, apiKey: TEST_API_KEY, maxRetries: 0 });
    const schema = {
      type: 'object',
      properties: { n: { type: 'integer' } },
      required: ['n'],
      additionalProperties: false,
    };
    await openai.chat.completions.create({
      model: 'Lead',
      messages: [{ role: 'user', content: 'How many?' }],
      response_format: { type: 'json_schema', json_schema: { name: 'number', strict: true, schema } },
    });
    const [run] = (await rig.api.get(`/v2/integrations/${apiIntegrationId}/runs`)).body.items;
    const reader = await rig.api.rerun(apiIntegrationId, run.runId);
    await reader.whole();
    const again = (await rig.api.get(`/v2/integrations/${apiIntegrationId}/runs/${reader.headers['x-run-id']}`)).body;
    assert.deepEqual([again.status, again.message], ['completed', '{"n":2}']);
    const [first, , repaired] = rig.controller.calls.map(({ request }) => request);
    assert.deepEqual(first?.output, repaired?.output);
  });
}

test('an erasure waits for a rerun that has seen no erasure', { skip: !STORES.includes('postgres') }, async (t) => {
  cites(t, 'contract-24-deleted');
  let erase: (() => Promise<unknown>) | null = null;
  let erased: Promise<unknown> = Promise.resolve();
  let isErased = false;
  const isWaiting = async () => (await askStore(rig.server.dataDir, WAITS)).length > 0;
  const wrapStore = hookStore({
    readInside: async (statement, read) => {
      const found = await read();
      if (statement === 'refused person' && erase !== null) {
        const start = erase;
        erase = null;
        erased = start().then(() => {
          isErased = true;
        });
        await until('the erasure waits or is over', async () => isErased || (await isWaiting()));
        assert.equal(isErased, false, 'the erasure waits');
      }
      return found;
    },
  });
  await using rig = await ScriptedServer.start({ store: 'postgres', agencies, wrapStore });
  const apiIntegrationId = await rig.integration({ agency: 'shop' });
  const below = `/v2/integrations/${apiIntegrationId}`;
  await rig.member(apiIntegrationId, 'ann');
  play(rig, { Lead: [say('One.'), say('Two.')] });
  const original = await rig.api.complete({ apiIntegrationId, chatId: 'c', consumerId: 'ann', message: 'Go.' });
  await original.whole();
  const runId = String(original.headers['x-run-id']);
  // A member's row would make the erasure wait, too.
  await rig.api.delete(`${below}/members/ann`);
  erase = () => rig.api.delete(`${below}/members/ann?erase=true`);
  const reader = await rig.api.rerun(apiIntegrationId, runId, { keep: true });
  assert.equal(reader.status, 200);
  await Promise.all([reader.over, erased]);
  const again = `${below}/runs/${reader.headers['x-run-id']}`;
  await eventually('the chat of the rerun is erased', async () => (await rig.api.get(again)).body.chatDeleted);
  assert.equal((await refusal(await rig.api.rerun(apiIntegrationId, runId))).body.code, 'chat_not_found');
});

test('a node of the version before refuses reruns', async (t) => {
  cites(t, 'contract-24-earlier-nodes');
  const [tx, request, start] = [{}, { rerun: {}, consumerId: null }, {}] as never[];
  const forked = forkForRun(tx as never, request as never, start as never, { areAlive: () => true });
  await assert.rejects(forked, { code: 'unavailable' });
});
