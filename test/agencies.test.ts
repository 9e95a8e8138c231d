import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type ApiClient,
  hookStore,
  type Model,
  ModelController,
  type ModelRequest,
  StoreUnavailable,
  scriptedModel,
  startTestServer,
} from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { AgenciesFolder } from './support/agencies-folder.ts';
import { until } from './support/eventually.ts';
import { ONE_AGENCY } from './support/one-agency.ts';
import { messagesFrame } from './support/scripted-server.ts';

async function start(folder: AgenciesFolder, controller: ModelController, env: Readonly<Record<string, string>> = {}) {
  return startTestServer({
    env: { RUNWIRE_AGENCIES_DIR: folder.path, ...env },
    model: scriptedModel(controller.port),
  });
}

/** How `GET /v2/agencies` shows an agency without code. */
const NO_PROCESS = { state: 'none', pid: null, memoryBytes: null, restarts: 0, lastFault: null };

const TRIAGE = `name: Support
agents:
  - name: Triage
    instructions: "You talk to {{member.name}}, who has {{user_context.plan}}. Today is {{date}}."
`;

const getAgency = async (api: ApiClient, id: string) =>
  (await api.get('/v2/agencies')).body.items.find(({ agency }: { agency: string }) => agency === id);

test('an agency.yaml with one agent answers', async (t) => {
  cites(t, 'agents-10-placeholders', 'contract-1-agencies-dir');
  using folder = new AgenciesFolder({ 'support/agency.yaml': TRIAGE });
  await using controller = await ModelController.start();
  await using server = await start(folder, controller);
  const { api } = server;
  await api.post('/v2/integrations', { apiIntegrationId: 'own', agency: 'support' });
  const { agents, process: code } = await getAgency(api, 'support');
  assert.equal(agents[0].description, null);
  assert.deepEqual(code, NO_PROCESS);
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

test('the same agency as YAML, Markdown and TypeScript asks the model the same', async (t) => {
  cites(
    t,
    'agents-10-forms',
    'agents-10-shown',
    'agents-10-definition',
    'contract-3-flows',
    'contract-9-agency-flow-kinds',
  );
  const files = Object.entries(ONE_AGENCY).flatMap(([form, own]) =>
    Object.entries(own).map(([file, text]) => [`${form}/${file}`, text] as const),
  );
  using folder = new AgenciesFolder(Object.fromEntries(files));
  await using controller = await ModelController.start();
  await using server = await start(folder, controller);
  const { api } = server;
  const requests: unknown[] = [];
  const shown: unknown[] = [];
  const definitions: unknown[] = [];
  for (const form of Object.keys(ONE_AGENCY)) {
    const { source, version, loadedAt, agency, process: code, ...rest } = await getAgency(api, form);
    assert.equal(code.state, 'running');
    assert.deepEqual([source, rest.error], [form, null]);
    assert.match(version, /^[0-9a-f]{16}$/);
    assert.ok(!Number.isNaN(Date.parse(loadedAt)));
    assert.equal(agency, form);
    shown.push(rest);
    const definition = (await api.get(`/v2/agencies/${form}/definition`)).body;
    assert.equal(definition.version, version);
    definitions.push({ shared: definition.sharedInstructions, agents: definition.agents });
    await api.post('/v2/integrations', { apiIntegrationId: form, agency: form });
    const answer = api.post('/get_completion_v2', {
      apiIntegrationId: form,
      message: 'Hi',
      user_context: { plan: 'Pro' },
    });
    const call = await controller.nextCall();
    const { runId, ...request } = call.request;
    requests.push(request);
    await call.end();
    assert.equal((await answer).status, 200, runId);
  }
  assert.deepEqual(definitions[1], definitions[0]);
  const { agents, ...shared } = definitions[0] as { readonly agents: readonly { readonly name: string }[] };
  assert.deepEqual(shared, { shared: 'You work for Example Ltd.' });
  // In TypeScript a function writes them.
  const written = agents.map((agent) => (agent.name === 'Triage' ? { ...agent, instructions: null } : agent));
  assert.deepEqual(definitions[2], { ...shared, agents: written });
  const missing = await api.get('/v2/agencies/nowhere/definition');
  assert.deepEqual([missing.status, missing.body.code], [400, 'unknown_agency']);
  assert.deepEqual(requests[1], requests[0]);
  assert.deepEqual(requests[2], requests[0]);
  assert.deepEqual(shown[1], shown[0]);
  assert.deepEqual(shown[2], shown[0]);
  assert.deepEqual((shown[0] as { flows: unknown }).flows, [
    { from: 'Triage', to: 'Billing', kind: 'handoff', lasts: null, conditional: false },
    { from: 'Billing', to: 'Reporter', kind: 'delegate', lasts: null, conditional: false },
  ]);
});

test('an edit while the store is away is loaded later; until then the agency stays as it was', async () => {
  using folder = new AgenciesFolder({ 'support/agency.yaml': TRIAGE });
  let isAway = false;
  let refusals = 0;
  const wrapStore = hookStore({
    read: (statement, read) => {
      if (!isAway || statement !== 'credit integrations') return read();
      refusals += 1;
      throw new StoreUnavailable('The database is not available: connect ECONNREFUSED 10.0.0.5:5432');
    },
  });
  const env = { RUNWIRE_AGENCIES_DIR: folder.path, RUNWIRE_AGENCIES_WATCH: 'true' };
  const requests: ModelRequest[] = [];
  const call: Model['call'] = async (request, output) => {
    requests.push(request);
    output.text('Hi');
    return { usage: null };
  };
  await using server = await startTestServer({ env, wrapStore, model: { id: 'recording/model', call } });
  const { api } = server;
  await api.post('/v2/integrations', { apiIntegrationId: 'own', agency: 'support' });
  const askTwice = async () => {
    for (let i = 0; i < 2; i += 1) await api.post('/get_completion_v2', { apiIntegrationId: 'own', message: 'Hi' });
  };
  await askTwice();
  const before = await getAgency(api, 'support');
  isAway = true;
  folder.write({ 'support/agency.yaml': TRIAGE.replace('Support', 'Edited') });
  await until(async () => refusals > 0);
  assert.deepEqual(await getAgency(api, 'support'), before);
  isAway = false;
  await until(async () => (await getAgency(api, 'support')).name === 'Edited');
  assert.equal((await getAgency(api, 'support')).error, null);
  // What depends on the version alone is made once for all its runs.
  await askTwice();
  const [first, second, third, fourth] = requests.map(({ tools, settings }) => ({ tools, settings }));
  assert.equal(requests.length, 4);
  assert.ok(first?.tools === second?.tools && first?.settings === second?.settings);
  assert.ok(third?.tools === fourth?.tools && third?.settings === fourth?.settings);
  assert.ok(first?.tools !== third?.tools && first?.settings !== third?.settings);
});

test('a broken agency answers 503, and the others answer as before', async (t) => {
  cites(
    t,
    'agents-10-error',
    'agents-10-bad-edit',
    'agents-10-gone',
    'agents-10-others',
    'agents-10-watch',
    'contract-8-503-agency-unavailable',
  );
  using folder = new AgenciesFolder({ 'bad/agency.yaml': 'nam: Bad\n', 'good/agency.yaml': TRIAGE });
  await using controller = await ModelController.start();
  await using server = await start(folder, controller, { RUNWIRE_AGENCIES_WATCH: 'true' });
  const { api } = server;
  const { error, ...broken } = await getAgency(api, 'bad');
  assert.deepEqual(broken, {
    agency: 'bad',
    name: 'bad',
    defaultAgent: null,
    entryPoints: [],
    agents: [],
    flows: [],
    source: null,
    version: null,
    longChats: null,
    summaryModel: null,
    loadedAt: null,
    mcp: [],
    process: NO_PROCESS,
  });
  const missing = 'The agency has no `name`; add a line such as `name: Support`.';
  const unknown = '`nam` is not a field of an agency; did you mean `name`?';
  assert.deepEqual(error, {
    message: `agency.yaml:1:1: ${unknown} (1 more)`,
    faults: [unknown, missing].map((message) => ({ file: 'agency.yaml', line: 1, column: 1, message })),
  });
  const refused = await api.post('/v2/integrations', { apiIntegrationId: 'own', agency: 'bad' });
  assert.deepEqual([refused.status, refused.body.code], [503, 'agency_unavailable']);
  await api.post('/v2/integrations', { apiIntegrationId: 'own', agency: 'good' });

  // A bad edit: the last good version stays in use.
  folder.write({ 'good/agency.yaml': 'name: [\n' });
  await until(async () => (await getAgency(api, 'good')).error !== null);
  const { name, source, error: edited } = await getAgency(api, 'good');
  assert.deepEqual([name, source, edited.faults.length], ['Support', 'yaml', 1]);
  const answer = api.post('/get_completion_v2', { apiIntegrationId: 'own', message: 'Hi' });
  const call = await controller.nextCall();
  await call.end();
  assert.equal((await answer).status, 200);

  folder.write({ 'good/agency.yaml': TRIAGE.replace('Support', 'Sales') });
  await until(async () => (await getAgency(api, 'good')).name === 'Sales');
  assert.equal((await getAgency(api, 'good')).error, null);

  folder.delete('good');
  await until(async () => (await getAgency(api, 'good')) === undefined);
  const gone = await api.post('/get_completion_v2', { apiIntegrationId: 'own', message: 'Hi' });
  assert.deepEqual([gone.status, gone.body.code], [400, 'unknown_agency']);
});

test('after a restart with a broken agency, completions are refused and nothing is reserved', async (t) => {
  cites(t, 'agents-10-unavailable');
  using folder = new AgenciesFolder({ 'good/agency.yaml': TRIAGE });
  using data = new AgenciesFolder();
  await using controller = await ModelController.start();
  const env = { RUNWIRE_AGENCIES_DIR: folder.path };
  const options = { env, dataDir: data.path, model: scriptedModel(controller.port) };
  {
    await using server = await startTestServer(options);
    await server.api.post('/v2/integrations', { apiIntegrationId: 'own', agency: 'good' });
  }
  folder.write({ 'good/agency.yaml': 'name: 5\n' });
  await using server = await startTestServer(options);
  const { api } = server;
  const completion = { apiIntegrationId: 'own', message: 'Hi', agent: 'Nobody', usageRequestId: 'u1' };
  const { status, body, headers } = await api.post('/get_completion_v2', completion);
  assert.deepEqual([status, body.code], [503, 'agency_unavailable']);
  assert.equal(headers.get('x-agent-run-admitted'), 'false');
  assert.ok(Number(headers.get('retry-after')) > 0);
  assert.deepEqual((await api.get('/v2/integrations/own/runs')).body.items, []);
  // Other settings of the integration can still be changed.
  assert.equal((await api.patch('/v2/integrations/own', { textOnly: true })).status, 200);
});

test('a run keeps the version that it started with', async (t) => {
  cites(t, 'agents-10-version', 'agents-29-child-process', 'agents-29-older-version');
  const agency = (word: string) => `name: Support
toolFiles: [./tools.ts]
agents:
  - name: Triage
    instructions: ${word}
    tools: [word]
`;
  const tools = (word: string) => `import { helper } from './helper.ts';
export const word = { description: 'A word.', inputSchema: { type: 'object' }, repeatable: true, execute: () => helper('${word}') };
`;
  const helper = (mark: string) => `export const helper = (word: string): string => word + '${mark}';\n`;
  using folder = new AgenciesFolder({
    'support/agency.yaml': agency('Old'),
    'support/tools.ts': tools('old'),
    'support/helper.ts': helper('?'),
  });
  await using controller = await ModelController.start();
  await using server = await start(folder, controller, { RUNWIRE_AGENCIES_WATCH: 'true' });
  const { api } = server;
  await api.post('/v2/integrations', { apiIntegrationId: 'own', agency: 'support' });
  const ask = async (chatId: string) => {
    const answer = api.post('/get_completion_v2', { apiIntegrationId: 'own', chatId, message: 'Hi' });
    return { answer, call: await controller.nextCall() };
  };
  const finish = async ({ answer, call }: Awaited<ReturnType<typeof ask>>) => {
    await call.toolCall('call_1', 'word', '{}');
    await call.end();
    const second = await controller.nextCall();
    await second.end();
    assert.equal((await answer).status, 200);
    const output = second.request.prompt.find(({ kind }) => kind === 'tool_output');
    return [second.request.instructions, output?.kind === 'tool_output' ? output.output : null];
  };
  const before = await ask('c1');
  const orphan = await ask('c3');
  const { version, process: old } = await getAgency(api, 'support');
  folder.write({ 'support/agency.yaml': agency('New'), 'support/helper.ts': helper('!') });
  await until(async () => (await getAgency(api, 'support')).version !== version);
  await until(async () => {
    const one = await ask(`c${Math.random()}`);
    const [, output] = await finish(one);
    return output === 'old!';
  });
  assert.deepEqual(await finish(await ask('c2')), ['New', 'old!']);
  assert.deepEqual(await finish(before), ['Old', 'old?']);
  assert.notEqual((await getAgency(api, 'support')).process.pid, old.pid);
  // The old version's files are gone, so its run continues with the new one's code. The call may be repeated.
  process.kill(old.pid, 'SIGKILL');
  assert.deepEqual(await finish(orphan), ['Old', 'old!']);
});

test('an agency shows the process of its code and the last fault', async (t) => {
  cites(t, 'agents-29-agencies-process', 'agents-29-agency-error');
  using folder = new AgenciesFolder({
    'support/agency.ts': `import { defineAgency, defineTool } from '@runwire/agency';
const fail = defineTool({
  name: 'fail',
  description: 'Ends its process.',
  inputSchema: { type: 'object' },
  execute: () => new Promise(() => setTimeout(() => { throw new Error('The till is open.'); }, 1)),
});
const desk = { name: 'Desk / 1', instructions: 'Help.', tools: [fail] };
const throws = { name: 'Throws', instructions: () => { throw new Error('a secret'); } };
const quits = { name: 'Quits', instructions: () => process.exit(3) };
export default defineAgency({ name: 'Support', agents: [desk, throws, quits] });
`,
  });
  await using controller = await ModelController.start();
  await using server = await start(folder, controller);
  const { api } = server;
  const getProcess = async () => (await getAgency(api, 'support')).process;
  const { memoryBytes: _, ...before } = await getProcess();
  assert.deepEqual(before, { state: 'running', pid: before.pid, restarts: 0, lastFault: null });
  assert.ok(before.pid > 0 && before.pid !== process.pid);
  await until(async () => (await getProcess()).memoryBytes > 1_000_000);

  await api.post('/v2/integrations', { apiIntegrationId: 'own', agency: 'support' });
  const answer = api.post('/get_completion_v2', { apiIntegrationId: 'own', message: 'Hi' });
  const call = await controller.nextCall();
  await call.toolCall('call_1', 'fail', '{}');
  await call.end();
  const second = await controller.nextCall();
  const output = second.request.prompt.find(({ kind }) => kind === 'tool_output');
  assert.match(output?.kind === 'tool_output' ? output.output : '', /outcome is unknown.*The till is open\./);
  await second.end();
  const { status, headers } = await answer;
  assert.equal(status, 200);
  assert.equal((await api.get('/readyz')).status, 200);
  await until(async () => (await getProcess()).state === 'running');
  const { pid, restarts, lastFault } = await getProcess();
  assert.ok(pid > 0 && pid !== before.pid);
  assert.equal(restarts, 1);
  const runId = headers.get('x-run-id');
  const { at, ...fault } = lastFault;
  assert.deepEqual(fault, { message: 'The till is open.', tool: 'fail', callId: 'call_1', runId });
  assert.ok(Math.abs(Date.now() - Date.parse(at)) < 60_000);
  const { body: other } = await api.post('/v2/owners', { email: 'other@example.com' });
  const seen = (await getAgency(api.as(other.apiKey), 'support')).process.lastFault;
  const message = 'An error that nothing caught; the log of the server has its message.';
  assert.deepEqual(seen, { message, tool: 'fail', callId: null, runId: null, at }, 'the run is of another owner');

  // A function that fails, or ends the process, fails its run with a sentence.
  for (const agent of ['Throws', 'Quits']) {
    const reader = await api.complete({ apiIntegrationId: 'own', chatId: agent, agent, message: 'Hi' });
    await reader.whole();
    const failed = `The function \`instructions\` of the agent \`${agent}\` of the agency \`support\` failed`;
    const { error } = messagesFrame(reader);
    assert.deepEqual(error, { code: 'agency_error', message: `${failed}; the log of the server has the reason.` });
    assert.doesNotMatch(reader.text, /secret/);
  }
  assert.match((await getProcess()).lastFault.message, /exit code 3/);
});
