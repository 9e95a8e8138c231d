import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { type ModelCall, ModelController, STORES, scriptedModel, startTestServer } from '@runwire/test-kit';
import { FakeProvider } from '@runwire/test-kit/fake-provider.ts';
import { hello, wire } from '@runwire/test-kit/provider-rig.ts';
import { cites } from '../requirements/cite.ts';
import { AgenciesFolder } from './support/agencies-folder.ts';
import { listSamples } from './support/doc-samples.ts';
import { KillableServer } from './support/killable-server.ts';
import { messagesFrame } from './support/scripted-server.ts';

/* Agencies from files that hide tools and flows: their functions run in the agency's process, which notes each question. */

const TOOLS = `import { appendFileSync, existsSync } from 'node:fs';
import { defineTool } from '@runwire/agency';
const note = (name) => appendFileSync(new URL('./asked.txt', import.meta.url), name + ' ' + process.pid + '\\n');
const tool = (name, more) => defineTool({
  name, description: name, inputSchema: { type: 'object' }, repeatable: true,
  execute: (_input, { state }) => (state.set('found', true), 'found'), ...more,
});
export const refund = tool('refund', { isEnabled: async ({ state, userContext }) => {
  note('refund');
  if (userContext?.quit === true) await new Promise(() => {});
  return state.found === true;
} });
export const look_up = tool('look_up', {});
export const mayBill = async ({ agent, date, userContext }) => {
  note('mayBill');
  if (userContext?.quit === true) process.exit(3);
  return agent === 'Desk' && date instanceof Date && existsSync(new URL('./open.txt', import.meta.url));
};
`;

const FILES = {
  'own/tools.ts': TOOLS,
  'own/agency.yaml': `name: Own
toolFiles: [./tools.ts]
agents:
  - { name: Desk, instructions: Help., files: false, tools: [refund, look_up] }
  - { name: Billing, description: Bills., instructions: Bill., files: false }
flows:
  - Desk -> Billing
  - { from: Desk, to: Billing, kind: handoff, isEnabled: mayBill }
`,
};

const readAsked = ({ path }: AgenciesFolder) => readFileSync(join(path, 'own/asked.txt'), 'utf8').trim().split('\n');

test('the agency in docs/conditions.md shows the refund after the customer was verified', async () => {
  const page = 'docs/conditions.md';
  const [code = ''] = listSamples(page, 'ts');
  const [agency = ''] = listSamples(page, 'yaml');
  using folder = new AgenciesFolder({ 'shop/tools.ts': code, 'shop/agency.yaml': agency });
  await using controller = await ModelController.start();
  await using server = await startTestServer({
    env: { RUNWIRE_AGENCIES_DIR: folder.path },
    model: scriptedModel(controller.port),
  });
  await server.api.post('/v2/integrations', { apiIntegrationId: 'own', agency: 'shop' });
  const seen: string[][] = [];
  controller.onCall = async (call) => {
    seen.push(call.request.tools.map(({ name }) => name));
    if (seen.length === 1) await call.toolCall('c1', 'verify', '{}');
    else await call.text('Done.');
    await call.end();
  };
  for (const plan of ['free', 'premium']) {
    const body = { apiIntegrationId: 'own', chatId: 'c', message: 'Hi', user_context: { plan } };
    await (await server.api.complete(body)).whole();
  }
  assert.deepEqual(seen, [['verify'], ['verify', 'refund'], ['verify', 'refund', 'transfer_to_Concierge']]);
});

test('each model that is asked for a step sees the same, and each function is asked once', async (t) => {
  cites(t, 'agents-34-enabled-once');
  await using local = await FakeProvider.start();
  await using other = await FakeProvider.start();
  local.onCall = (call) => void call.answer(503, 'busy', { 'retry-after-ms': '1' });
  other.onCall = (call) => void call.stream(wire('chat', hello));
  using folder = new AgenciesFolder({
    'providers.yaml': [local, other].map(({ baseUrl }, i) => `p${i}: { api: chat, baseUrl: ${baseUrl} }\n`).join(''),
    'own/tools.ts': `let [first, second] = [0, 0];
const tool = (name, isEnabled) => ({ name, inputSchema: { type: 'object' }, execute: () => 'done', isEnabled });
export const one = tool('once', () => (first += 1) === 1);
export const two = tool('later', () => (second += 1) > 1);
`,
    'own/agency.yaml': `name: Own
toolFiles: [./tools.ts]
agents:
  - { name: Desk, instructions: Help., files: false, tools: [once, later], model: p0/m, fallback: [p1/m] }
`,
  });
  await using server = await startTestServer({ env: { RUNWIRE_AGENCIES_DIR: folder.path } });
  await server.api.post('/v2/integrations', { apiIntegrationId: 'own', agency: 'own' });
  const reader = await server.api.complete({ apiIntegrationId: 'own', message: 'Hi' });
  await reader.whole();
  const seen = [...local.calls, ...other.calls].map(({ body }) =>
    (body.tools as { function: { name: string } }[]).map((one) => one.function.name),
  );
  assert.deepEqual(seen, [['once'], ['once'], ['once'], ['once']]);
  const { body } = await server.api.get(`/v2/integrations/own/runs/${reader.headers['x-run-id']}/steps`);
  const [step] = body.items;
  assert.deepEqual([step.model, step.tries, step.hidden], ['p1/m', 4, [{ kind: 'tool', name: 'later' }]]);
});

test('a function that ends its process twice fails the run and is named', async (t) => {
  cites(t, 'agents-34-enabled-error', 'agents-34-enabled-process');
  using folder = new AgenciesFolder(FILES);
  await using controller = await ModelController.start();
  const env = { RUNWIRE_AGENCIES_DIR: folder.path };
  await using server = await startTestServer({ env, model: scriptedModel(controller.port) });
  await server.api.post('/v2/integrations', { apiIntegrationId: 'own', agency: 'own' });
  const body = { apiIntegrationId: 'own', message: 'Hi', user_context: { quit: true } };
  const reader = await server.api.complete(body);
  await reader.whole();
  const { error } = messagesFrame(reader);
  assert.equal(error.code, 'agency_error');
  assert.match(
    error.message,
    /`isEnabled` of the hand-off to `Billing` of the agency `own`, which the agent `Desk` has, failed/,
  );
  assert.equal(readAsked(folder).filter((line) => line.startsWith('mayBill')).length, 2);
});

for (const store of STORES)
  describe(store, () => {
    test('a takeover asks no function of a stored step again', async (t) => {
      cites(t, 'agents-34-enabled-stored', 'agents-34-enabled-process', 'agents-34-enabled-yaml');
      using folder = new AgenciesFolder(FILES);
      const env = { RUNWIRE_AGENCIES_DIR: folder.path };
      await using server = await KillableServer.start({ store, env });
      await server.api.post('/v2/integrations', { apiIntegrationId: 'mine', agency: 'own' });
      const { call, runId } = await server.hold({ apiIntegrationId: 'mine', message: 'Go.' });
      const names = ({ request }: ModelCall) => request.tools.map(({ name }) => name);
      assert.deepEqual(names(call), ['look_up', 'send_message']);
      await call.toolCall('c1', 'look_up', '{}');
      await call.toolCall('c2', 'refund', '{}');
      await call.toolCall('c3', 'transfer_to_Billing', '{}');
      await call.end();
      assert.deepEqual(names(await server.controller.nextCall()), ['refund', 'look_up', 'send_message']);
      const asked = readAsked(folder);
      assert.equal(new Set(asked.map((line) => line.split(' ')[1])).size, 1, 'the process of the agency');
      folder.write({ 'own/open.txt': '' });
      await server.process.kill();
      await server.startAgain({ env });
      const again = await server.controller.nextCall();
      assert.deepEqual(names(again), ['refund', 'look_up', 'send_message', 'transfer_to_Billing']);
      await again.text('Done.');
      await again.end();
      const reader = await server.api.events(runId, null, 'mine');
      await reader.whole();
      const results = again.request.prompt.flatMap((item) => (item.kind === 'tool_output' ? [item.output] : []));
      assert.deepEqual(results, ['found', 'There is no tool `refund`.', 'There is no tool `transfer_to_Billing`.']);
      assert.deepEqual(
        readAsked(folder).map((line) => line.split(' ')[0]),
        ['refund', 'mayBill', 'refund', 'mayBill', 'refund', 'mayBill'],
        'only the step that was cut asks again',
      );
    });
  });
