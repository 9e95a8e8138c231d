import assert from 'node:assert/strict';
import { after, beforeEach, describe, test } from 'node:test';
import { defineAgency, defineAgent, defineTool } from '@runwire/agency';
import { STORES, type StoreName } from '@runwire/test-kit';
import { until } from '@runwire/test-kit/shortfall.ts';
import { z } from 'zod';
import { cites } from '../requirements/cite.ts';
import { AgenciesFolder } from './support/agencies-folder.ts';
import { calls, play } from './support/play.ts';
import { ScriptedServer } from './support/scripted-server.ts';

const YAML = 'name: Work\nagents:\n  - { name: Worker, description: Works., instructions: Work., files: false }\n';
const folder = new AgenciesFolder({ 'work/agency.yaml': YAML });
after(() => folder[Symbol.dispose]());

const refund = defineTool({
  name: 'refund',
  description: 'Pays money back.',
  inputSchema: z.object({ cents: z.number().int() }),
  needsApproval: true,
  execute: ({ cents }) => `refunded ${cents}`,
});
const lead = defineAgent({
  name: 'Lead',
  description: 'Leads.',
  instructions: 'You are Lead.',
  files: false,
  tools: { refund },
});
const shop = defineAgency({ name: 'Shop', agents: [lead] });

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  const env = { RUNWIRE_AGENCIES_DIR: folder.path, RUNWIRE_AGENCIES_WATCH: 'true' };
  const rig = ScriptedServer.shared({ store, agencies: { shop }, env });
  let below = '';
  const use = async (agency: string) => {
    const integration = await rig.integration({ agency });
    below = `/v2/integrations/${integration}/webhooks`;
    const { endpointId } = (await rig.api.post(below, { url: null })).body;
    below = `${below}/${endpointId}/deliveries`;
    return integration;
  };
  const bodies = async () =>
    Promise.all(
      (await rig.api.get(below)).body.items.map(async ({ deliveryId }: { deliveryId: string }) =>
        JSON.parse((await rig.api.get(`${below}/${deliveryId}`)).body.body),
      ),
    );
  beforeEach(() => folder.write({ 'work/agency.yaml': YAML }));

  test('a run that asks is also reported as `run.asked`, without arguments', async (t) => {
    cites(t, 'contract-21-asked');
    const apiIntegrationId = await use('shop');
    play(rig, { Lead: [calls(['c1', 'refund', { cents: 5 }])] });
    const reader = await rig.api.complete({ apiIntegrationId, message: 'Go.' });
    await reader.whole();
    const events = await bodies();
    assert.deepEqual(events.map(({ type }) => type).sort(), ['run.asked', 'run.completed']);
    for (const { data } of events) {
      const [{ questionId, ...question }] = data.pending;
      assert.equal(typeof questionId, 'string');
      assert.deepEqual(question, { kind: 'approval', callId: 'c1', agent: 'Lead', callerAgent: null, tool: 'refund' });
    }
  });

  test('an edit that breaks an agency is reported once per fault', async (t) => {
    cites(t, 'contract-21-broken');
    const isLoaded = async () => {
      const { items } = (await rig.api.get('/v2/agencies')).body;
      return items.some(({ agency, error }: { agency: string; error: unknown }) => agency === 'work' && error === null);
    };
    await until('the agency, which a test of another server may have broken', isLoaded);
    await use('work');
    const count = async () => (await bodies()).length;
    folder.write({ 'work/agency.yaml': `${YAML}colour: red\n` });
    await until('the report', async () => (await count()) === 1);
    const [{ type, data }] = await bodies();
    assert.deepEqual([type, data.agency, data.error.faults.length], ['agency.broken', 'work', 1]);
    assert.match(data.error.message, /colour/);
    folder.write({ 'work/agency.yaml': `${YAML}colour: red\nshape: round\n` });
    await until('the second report', async () => (await count()) === 2);
    folder.write({ 'work/agency.yaml': `${YAML}colour: red\n` });
    folder.write({ 'work/agency.yaml': `${YAML}size: 1\n` });
    await until('the last report', async () => (await count()) >= 3);
    assert.equal(await count(), 3);
  });
}
