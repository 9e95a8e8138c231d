import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ApiClient, ModelController, scriptedModel, startTestServer } from '@runwire/server/testing';
import { AgenciesFolder } from './support/agencies-folder.ts';
import { until } from './support/eventually.ts';

const GOOD = 'name: Support\nagents:\n  - { name: Helper, instructions: Help. }\n';

/** A server that stopped during two runs, whose agency is broken at the next start. */
async function brokenAtRestart(folder: AgenciesFolder, dataDir: string, controller: ModelController, settings = {}) {
  const env = { RUNWIRE_AGENCIES_DIR: folder.path, RUNWIRE_AGENCIES_WATCH: 'true' };
  const options = { env, dataDir, model: scriptedModel(controller.port) };
  {
    await using server = await startTestServer(options);
    await server.api.post('/v2/integrations', { apiIntegrationId: 'own', agency: 'support', ...settings });
    for (const chatId of ['a', 'b']) {
      await server.api.complete({ apiIntegrationId: 'own', chatId, message: 'Hi' });
      await controller.nextCall();
    }
  }
  folder.write({ 'support/agency.yaml': 'name: 5\n' });
  return startTestServer(options);
}

const getRun = async (api: ApiClient, chatId: string) =>
  (await api.get('/v2/integrations/own/runs')).body.items.find((run: { chatId: string }) => run.chatId === chatId);

test('unfinished runs wait for their agency if it is broken at a restart', async () => {
  using folder = new AgenciesFolder({ 'support/agency.yaml': GOOD });
  using data = new AgenciesFolder();
  await using controller = await ModelController.start();
  await using server = await brokenAtRestart(folder, data.path, controller);
  const { api } = server;
  assert.deepEqual([server.server.resumedRuns, server.server.endedRuns], [0, 0]);
  const waiting = await getRun(api, 'a');
  assert.deepEqual([waiting.status, waiting.attempt], ['running', 1]);
  // A caller can cancel a run that waits.
  const { runId } = await getRun(api, 'b');
  await api.post(`/v2/integrations/own/runs/${runId}/cancel`);
  await until(async () => (await getRun(api, 'b')).status === 'cancelled');

  folder.write({ 'support/agency.yaml': GOOD });
  const call = await controller.nextCall();
  await call.text('Hello');
  await call.end();
  await until(async () => (await getRun(api, 'a')).status === 'completed');
  assert.equal((await getRun(api, 'a')).attempt, 2);
});

test('unfinished runs end if the folder of their agency is gone', async () => {
  using folder = new AgenciesFolder({ 'support/agency.yaml': GOOD });
  using data = new AgenciesFolder();
  await using controller = await ModelController.start();
  await using server = await brokenAtRestart(folder, data.path, controller);
  assert.equal((await getRun(server.api, 'a')).status, 'running');
  folder.delete('support');
  await until(async () => (await getRun(server.api, 'a')).status === 'failed');
  assert.equal((await getRun(server.api, 'a')).error.code, 'run_interrupted');
});

test('a run that waits for its agency ends at its time limit', async () => {
  using folder = new AgenciesFolder({ 'support/agency.yaml': GOOD });
  using data = new AgenciesFolder();
  await using controller = await ModelController.start();
  await using server = await brokenAtRestart(folder, data.path, controller, { maxRunSeconds: 4 });
  await until(async () => (await getRun(server.api, 'b')).status === 'failed');
  const { error } = await getRun(server.api, 'a');
  assert.equal(error.code, 'run_interrupted');
  assert.match(error.message, /its agency is broken, and its time limit of 4 s has passed/);
});
