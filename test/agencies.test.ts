import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ModelController, scriptedModel, startTestServer } from '@runwire/server/testing';
import { AgenciesFolder } from './support/agencies-folder.ts';

async function start(folder: AgenciesFolder, controller: ModelController, env: Readonly<Record<string, string>> = {}) {
  return startTestServer({
    env: { RUNWIRE_AGENCIES_DIR: folder.path, ...env },
    model: scriptedModel(controller.port),
  });
}

const TRIAGE = `name: Support
agents:
  - name: Triage
    instructions: "You talk to {{member.name}}, who has {{user_context.plan}}. Today is {{date}}."
`;

test('an agency.yaml with one agent answers', async () => {
  using folder = new AgenciesFolder({ 'support/agency.yaml': TRIAGE });
  await using controller = await ModelController.start();
  await using server = await start(folder, controller);
  const { api } = server;
  await api.post('/v2/integrations', { apiIntegrationId: 'own', agency: 'support' });
  await api.put('/v2/integrations/own/members/m1', { name: 'Ada' });
  const answer = api.post('/get_completion_v2', {
    apiIntegrationId: 'own',
    message: 'Hi',
    consumerId: 'm1',
    user_context: { plan: 'Pro' },
  });
  const call = await controller.nextCall();
  const today = new Date().toISOString().slice(0, 10);
  assert.equal(call.request.instructions, `You talk to Ada, who has Pro. Today is ${today}.`);
  await call.text('Hello');
  await call.end();
  assert.equal((await answer).status, 200);
});
