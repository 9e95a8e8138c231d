import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { ModelController, STORES, scriptedModel, startTestServer } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { AgenciesFolder } from './support/agencies-folder.ts';
import { askStore } from './support/ask-store.ts';
import { listSamples } from './support/doc-samples.ts';
import { KillableServer } from './support/killable-server.ts';
import { messagesFrame } from './support/scripted-server.ts';

/* Guardrails of agencies from files: their code runs in the process of the agency, which notes every check in a file. */

const TOOLS = `import { appendFileSync } from 'node:fs';
import { defineGuardrail, defineTool } from '@runwire/agency';
const note = (name) => appendFileSync(new URL('./asked.txt', import.meta.url), name + ' ' + process.pid + '\\n');
const passing = (name, on) => defineGuardrail({ name, on, check: () => (note(name), { pass: true }) });
export const first = passing('first', 'input');
export const second = passing('second', 'toolCall');
export const third = passing('third', 'toolResult');
export const last = defineGuardrail({
  name: 'no_secrets',
  on: 'output',
  check({ text }) {
    note(this.name);
    if (text === 'quit') process.exit(3);
    return { replace: text.replace('secret', '[removed]') };
  },
});
export const look_up = defineTool({
  name: 'look_up', description: 'Looks.', inputSchema: { type: 'object' }, repeatable: true, execute: () => 'found',
});
`;

const FILES = {
  'own/tools.ts': TOOLS,
  'own/agency.yaml': `name: Own
toolFiles: [./tools.ts]
guardrails: [first, no_secrets]
agents: [./desk.md]
`,
  'own/desk.md': `---
name: Desk
tools: [look_up]
files: false
guardrails: [second, third]
---
Help.
`,
};

const readAsked = ({ path }: AgenciesFolder) =>
  readFileSync(join(path, 'own/asked.txt'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split(' ') as [name: string, pid: string]);

test('guardrails of YAML and Markdown run in the process of the agency, and the definition lists them', async (t) => {
  cites(
    t,
    'agents-32-define',
    'agents-32-lists',
    'agents-32-process',
    'agents-32-definition',
    'agents-32-agency-error',
  );
  using folder = new AgenciesFolder(FILES);
  await using controller = await ModelController.start();
  await using server = await startTestServer({
    env: { RUNWIRE_AGENCIES_DIR: folder.path },
    model: scriptedModel(controller.port),
  });
  const { api } = server;
  await api.post('/v2/integrations', { apiIntegrationId: 'own', agency: 'own' });
  const { guardrails, agents } = (await api.get('/v2/agencies/own/definition')).body;
  assert.deepEqual(
    [guardrails, agents[0].guardrails],
    [
      [
        { name: 'first', on: 'input' },
        { name: 'no_secrets', on: 'output' },
      ],
      [
        { name: 'second', on: 'toolCall' },
        { name: 'third', on: 'toolResult' },
      ],
    ],
  );
  const answer = async (text: string) => {
    const reader = await api.complete({ apiIntegrationId: 'own', message: 'Hi' });
    const call = await controller.nextCall();
    await call.text(text);
    await call.end();
    await reader.whole();
    return reader;
  };
  assert.equal((await answer('The secret is out.')).answer, 'The [removed] is out.');
  const { body } = await api.get('/v2/agencies');
  const { pid } = body.items.find(({ agency }: { agency: string }) => agency === 'own').process;
  assert.deepEqual(readAsked(folder), [
    ['first', String(pid)],
    ['no_secrets', String(pid)],
  ]);
  const { error } = messagesFrame(await answer('quit'));
  assert.equal(error.code, 'agency_error');
  assert.match(error.message, /guardrail `no_secrets` of the agency `own`, which the agent `Desk` has, failed/);
  assert.equal(readAsked(folder).length, 4, 'a check whose process ended is not asked again');
});

test('the agency in docs/guardrails.md removes secrets and blocks other topics', async () => {
  const page = 'docs/guardrails.md';
  const [code = ''] = listSamples(page, 'ts');
  const [agency = ''] = listSamples(page, 'yaml');
  using folder = new AgenciesFolder({ 'support/guardrails.ts': code, 'support/agency.yaml': agency });
  await using controller = await ModelController.start();
  await using server = await startTestServer({
    env: { RUNWIRE_AGENCIES_DIR: folder.path },
    model: scriptedModel(controller.port),
  });
  const { api } = server;
  await api.post('/v2/integrations', { apiIntegrationId: 'own', agency: 'support' });
  const reader = await api.complete({ apiIntegrationId: 'own', message: 'What is the key?' });
  const call = await controller.nextCall();
  await call.text('It is sk-0123456789abcdefghij.');
  await call.end();
  await reader.whole();
  assert.equal(reader.answer, 'It is [removed].');
  const blocked = await api.complete({ apiIntegrationId: 'own', message: 'Who wins the lottery?' });
  await blocked.whole();
  assert.equal(messagesFrame(blocked).error.message, 'I only answer questions about invoices.');
});

for (const store of STORES)
  describe(store, () => {
    test('a takeover asks no guardrail again, and an earlier version leaves the run to others', async (t) => {
      cites(t, 'agents-32-takeover', 'agents-32-earlier-version');
      using folder = new AgenciesFolder(FILES);
      const env = { RUNWIRE_AGENCIES_DIR: folder.path };
      await using server = await KillableServer.start({ store, env });
      await server.api.post('/v2/integrations', { apiIntegrationId: 'mine', agency: 'own' });
      const { call, runId } = await server.hold({ apiIntegrationId: 'mine', message: 'Go.' });
      await call.toolCall('c1', 'look_up', '{}');
      await call.end();
      await server.controller.nextCall();
      const [row] = await askStore(server.dataDir, 'select journal_format from runs');
      assert.equal(Number(row?.journal_format), 11, 'a version that knows no guardrails does not know the format');
      await server.process.kill();
      await server.startAgain({ env });
      const again = await server.controller.nextCall();
      await again.text('A secret.');
      await again.end();
      const reader = await server.api.events(runId, null, 'mine');
      await reader.whole();
      assert.equal(reader.answer, 'A [removed].');
      assert.deepEqual(
        readAsked(folder).map(([name]) => name),
        ['first', 'second', 'third', 'no_secrets'],
      );
    });
  });
