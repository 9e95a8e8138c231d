import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { type ApiClient, startTestServer } from '@runwire/server/testing';
import { FakeProvider } from '@runwire/test-kit/fake-provider.ts';
import { hello, wire } from '@runwire/test-kit/provider-rig.ts';
import { readProviders } from '../packages/server/src/agencies/read-providers.ts';
import { cites } from '../requirements/cite.ts';
import { AgenciesFolder } from './support/agencies-folder.ts';
import { getFolder, root, runwire } from './support/cli-process.ts';
import { toRows } from './support/columns.ts';
import { listSamples } from './support/doc-samples.ts';
import { until } from './support/eventually.ts';

const agency = (model: string, more = '') => `name: Support
agents:
  - { name: Helper, instructions: Help., model: ${model}${more} }
`;

const getAgency = async (api: ApiClient, id: string) =>
  (await api.get('/v2/agencies')).body.items.find((item: { agency: string }) => item.agency === id);

async function ask(api: ApiClient, agencyId: string, more: object = {}) {
  await api.post('/v2/integrations', { apiIntegrationId: agencyId, agency: agencyId, textOnly: true });
  return api.post('/get_completion_v2', { apiIntegrationId: agencyId, message: 'Hi', ...more });
}

async function provider(api: 'chat' | 'messages' | 'responses') {
  const one = await FakeProvider.start();
  one.onCall = (call) => void call.stream(wire(api, hello));
  return one;
}

test('providers of providers.yaml answer beside built-in ones, which it can change', async (t) => {
  cites(t, 'agents-12-providers');
  await using local = await provider('chat');
  await using other = await provider('messages');
  await using changed = await provider('chat');
  using folder = new AgenciesFolder({
    'providers.yaml': `local: { api: chat, baseUrl: ${local.baseUrl}, apiKey: "\${LOCAL_KEY}" }
other:
  api: messages
  baseUrl: ${other.baseUrl}
  models: { m: { maxOutputTokens: 777 } }
openai: { api: chat, baseUrl: ${changed.baseUrl} }
`,
    'a/agency.yaml': agency('local/org/m'),
    'b/agency.yaml': agency('other/m'),
    'c/agency.yaml': agency('openai/m'),
  });
  const env = { RUNWIRE_AGENCIES_DIR: folder.path, LOCAL_KEY: 'sk-1', RUNWIRE_MODEL: 'local/default' };
  await using server = await startTestServer({ env });
  const answers = await Promise.all(['a', 'b', 'c', 'demo'].map((id) => ask(server.api, id)));
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200, 200],
  );
  assert.deepEqual(local.calls.map(({ body }) => body.model).sort(), ['default', 'org/m']);
  assert.equal(local.calls[0]?.headers.authorization, 'Bearer sk-1');
  assert.deepEqual([other.calls[0]?.body.max_tokens, other.calls[0]?.path], [777, '/v1/messages']);
  assert.deepEqual([changed.calls[0]?.body.model, changed.calls[0]?.path], ['m', '/v1/chat/completions']);
  const [run] = (await server.api.get('/v2/integrations/a/runs')).body.items;
  const [step] = (await server.api.get(`/v2/integrations/a/runs/${run.runId}/steps`)).body.items;
  assert.equal(step.model, 'local/org/m');
});

test('all requests for one step are one step', async (t) => {
  cites(t, 'contract-26-tries');
  await using local = await provider('chat');
  await using other = await provider('chat');
  const answers = local.onCall;
  local.onCall = (call) => {
    if (local.calls.length === 2) answers?.(call);
    else call.answer(503, 'busy', { 'retry-after-ms': '1' });
  };
  using folder = new AgenciesFolder({
    'providers.yaml': `local: { api: chat, baseUrl: ${local.baseUrl} }
other: { api: chat, baseUrl: ${other.baseUrl} }
`,
    'a/agency.yaml': agency('local/m', ', fallback: [other/m]'),
    'b/agency.yaml': agency('local/m'),
  });
  await using server = await startTestServer({
    env: { RUNWIRE_AGENCIES_DIR: folder.path, RUNWIRE_MODEL: 'local/m' },
  });
  const steps = async (id: string) => {
    await ask(server.api, id);
    const [run] = (await server.api.get(`/v2/integrations/${id}/runs`)).body.items;
    const { items } = (await server.api.get(`/v2/integrations/${id}/runs/${run.runId}/steps`)).body;
    return toRows(items, 'step', 'model', 'status', 'tries');
  };
  assert.deepEqual(await steps('b'), [[1, 'local/m', 'completed', 2]]);
  assert.deepEqual(await steps('a'), [[1, 'other/m', 'completed', 4]]);
  await server.api.patch('/v2/integrations/b', { textOnly: false });
  await server.api.post('/get_completion_v2', { apiIntegrationId: 'b', message: 'Hi', chatId: 'failed' });
  const [run] = (await server.api.get('/v2/integrations/b/runs?chatId=failed')).body.items;
  const [step] = (await server.api.get(`/v2/integrations/b/runs/${run.runId}/steps`)).body.items;
  assert.deepEqual([step.status, step.tries, step.error, step.usage], ['failed', 3, run.error, run.usage]);
});

test('what providers.yaml tells about a model changes its requests', async (t) => {
  cites(t, 'agents-12-model-fields');
  await using local = await provider('chat');
  using folder = new AgenciesFolder({
    'providers.yaml': `local:
  api: chat
  baseUrl: ${local.baseUrl}
  models:
    small: { window: 1000, maxOutputTokens: 50, images: false }
`,
    'small/agency.yaml': `${agency('local/small')}`.replace(' }', ', settings: { maxOutputTokens: 60 } }'),
    'large/agency.yaml': `${agency('local/large')}`.replace(' }', ', settings: { maxOutputTokens: 60 } }'),
  });
  await using server = await startTestServer({ env: { RUNWIRE_AGENCIES_DIR: folder.path } });
  const image =
    'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  for (const id of ['small', 'large']) {
    const attachments = [{ type: 'input_image', image_url: image }];
    const first = await ask(server.api, id, { chatId: 'c', message: 'x'.repeat(4000), attachments });
    assert.equal(first.status, 200, JSON.stringify(first.body));
    await ask(server.api, id, { chatId: 'c', message: 'Again' });
  }
  const [small, smallAgain, large, largeAgain] = local.calls;
  assert.deepEqual([small?.body.max_tokens, large?.body.max_tokens], [50, 60]);
  assert.match(small?.text ?? '', /This model cannot see images\./);
  assert.ok(!small?.text.includes('image_url') && large?.text.includes('image_url'));
  // The first message does not fit into the small model's window.
  assert.ok(!smallAgain?.text.includes('xxxx') && largeAgain?.text.includes('xxxx'));
});

test('a broken provider stops only the agencies that use it', async (t) => {
  cites(t, 'agents-12-missing', 'agents-12-integration-model');
  await using local = await provider('chat');
  using folder = new AgenciesFolder({
    'providers.yaml': `local: { api: chat, baseUrl: ${local.baseUrl} }
bad:
  api: chat
  baseUrl: ${local.baseUrl}
  apiKey: \${NOT_SET}
`,
    'good/agency.yaml': agency('local/m'),
    'bad/agency.yaml': agency('bad/m'),
    'unknown/agency.yaml': agency('nowhere/m'),
  });
  const env = { RUNWIRE_AGENCIES_DIR: folder.path };
  await using server = await startTestServer({ env });
  const { api } = server;
  assert.equal((await ask(api, 'good')).status, 200);
  const fault =
    'providers.yaml:5:11: The environment variable `NOT_SET` is not set; set it, and start the server again.';
  assert.equal(
    (await getAgency(api, 'bad')).error.message,
    `agency.yaml:3:49: \`bad/m\` cannot be used until this is fixed: ${fault}`,
  );
  assert.match(
    (await getAgency(api, 'unknown')).error.message,
    /There is no provider `nowhere`; .* local, or add the provider to/,
  );
  assert.equal((await api.post('/v2/integrations', { apiIntegrationId: 'bad', agency: 'bad' })).status, 503);
  const patched = await api.patch('/v2/integrations/good', { model: 'bad/m' });
  assert.deepEqual([patched.status, patched.body.code], [400, 'invalid_request']);

  const checked = await runwire(['agencies', 'check', folder.path]);
  assert.equal(checked.code, 1);
  assert.ok(checked.stdout.startsWith(`${fault}\nbad/agency.yaml:3:49: `), checked.stdout);
  assert.match(checked.stdout, /\ngood: ok \(yaml, 1 agent\)\n/);
});

test('a providers.yaml that cannot be read stops no server', async () => {
  using folder = new AgenciesFolder({ 'providers.yaml': 'openai: [\n', 'a/agency.yaml': agency('offline/demo') });
  folder.write({
    'b/agency.yaml': agency('openai/m'),
    'c/agency.yaml': 'name: C\nagents: [{ name: A, instructions: X }]\n',
  });
  const env = { RUNWIRE_AGENCIES_DIR: folder.path, OPENAI_API_KEY: 'sk-1' };
  await using server = await startTestServer({ env });
  assert.equal((await ask(server.api, 'a')).status, 200);
  assert.match((await getAgency(server.api, 'b')).error.message, /until this is fixed: providers\.yaml:\d+:\d+: /);
  assert.match(
    (await getAgency(server.api, 'c')).error.message,
    /^agency\.yaml:2:18: This agent has no `model`, and the model of/,
  );
  // The agencies of this process use the installation's model.
  const refused = await ask(server.api, 'demo');
  assert.deepEqual([refused.status, refused.body.code], [503, 'agency_unavailable']);
});

test('a model of the installation that no provider has stops the start', async () => {
  using folder = new AgenciesFolder({ 'providers.yaml': 'local: { api: chat, baseUrl: "http://127.0.0.1:1" }\n' });
  const env = { RUNWIRE_AGENCIES_DIR: folder.path, RUNWIRE_MODEL: 'locale/m' };
  await assert.rejects(
    startTestServer({ env }),
    /^StartRefused: .*RUNWIRE_MODEL is `locale\/m`, which cannot be used: /,
  );
});

test('an edit of providers.yaml takes effect, and a bad edit keeps the last good version', async () => {
  await using first = await provider('chat');
  await using second = await provider('chat');
  const file = ({ baseUrl }: FakeProvider) => `local: { api: chat, baseUrl: ${baseUrl} }\n`;
  using folder = new AgenciesFolder({ 'providers.yaml': file(first), 'a/agency.yaml': agency('local/m') });
  const env = { RUNWIRE_AGENCIES_DIR: folder.path, RUNWIRE_AGENCIES_WATCH: 'true' };
  await using server = await startTestServer({ env });
  const { api } = server;
  assert.equal((await ask(api, 'a')).status, 200);
  assert.deepEqual([first.calls.length, second.calls.length], [1, 0]);

  folder.write({ 'providers.yaml': 'local: { api: chat }\n' });
  await until(async () => (await getAgency(api, 'a')).error !== null);
  assert.equal((await ask(api, 'a')).status, 200);
  assert.deepEqual([first.calls.length, second.calls.length], [2, 0]);

  folder.write({ 'providers.yaml': file(second) });
  await until(async () => (await getAgency(api, 'a')).error === null);
  assert.equal((await ask(api, 'a')).status, 200);
  assert.deepEqual([first.calls.length, second.calls.length], [2, 1]);

  // Without the provider the last good version of the agency has no model.
  folder.write({ 'providers.yaml': '' });
  await until(async () => (await getAgency(api, 'a')).error !== null);
  const refused = await ask(api, 'a');
  assert.deepEqual([refused.status, refused.body.code], [503, 'agency_unavailable']);
});

test('a required call is required until the agent has made one', async () => {
  await using local = await provider('chat');
  const call = ['call_1', 'look', '{}'] as const;
  local.onCall = (one) => {
    const hasCalled = one.body.messages.some(({ role }: { role: string }) => role === 'tool');
    void one.stream(wire('chat', hasCalled ? hello : { parts: [{ kind: 'calls', calls: [call] }] }));
  };
  const agent = (choice: string) => `name: Support
toolFiles: [./tools.ts]
agents:
  - { name: Helper, instructions: Help., model: local/m, tools: [look], settings: { toolChoice: ${choice} } }
`;
  const tools =
    "export const look = { description: 'Looks.', inputSchema: { type: 'object' }, execute: () => 'seen' };\n";
  using folder = new AgenciesFolder({
    'providers.yaml': `local: { api: chat, baseUrl: ${local.baseUrl} }\n`,
    'any/agency.yaml': agent('required'),
    'any/tools.ts': tools,
    'named/agency.yaml': agent('look'),
    'named/tools.ts': tools,
  });
  await using server = await startTestServer({ env: { RUNWIRE_AGENCIES_DIR: folder.path } });
  for (const id of ['any', 'named']) assert.deepEqual([(await ask(server.api, id)).status], [200], id);
  assert.deepEqual(
    local.calls.map(({ body }) => body.tool_choice),
    ['required', 'auto', { type: 'function', function: { name: 'look' } }, 'auto'],
  );
});

test('an edit to a model without a price is refused if an integration counts in credits', async () => {
  await using local = await provider('chat');
  using folder = new AgenciesFolder({
    'providers.yaml': `local: { api: chat, baseUrl: ${local.baseUrl} }\n`,
    'a/agency.yaml': agency('local/priced'),
  });
  const price = { input: 1, cachedInput: 1, output: 1 };
  const env = {
    RUNWIRE_AGENCIES_DIR: folder.path,
    RUNWIRE_AGENCIES_WATCH: 'true',
    RUNWIRE_PRICES: JSON.stringify({ 'local/priced': price, 'local/other': price }),
  };
  await using server = await startTestServer({ env });
  const { api } = server;
  await ask(api, 'a');
  const allowances = { unit: 'credits', limit: 1_000_000, period: 'month' };
  await api.put('/v2/integrations/a/members/m', {});
  const patched = await api.patch('/v2/integrations/a', { allowances });
  assert.equal(patched.status, 200, JSON.stringify(patched.body));
  folder.write({ 'a/agency.yaml': agency('local/free') });
  await until(async () => (await getAgency(api, 'a')).error !== null);
  assert.equal(
    (await getAgency(api, 'a')).error.message,
    '.: The integration `a` has allowances in credits, but RUNWIRE_PRICES has no price for `local/free`; name a model with a price.',
  );
  assert.equal((await ask(api, 'a', { consumerId: 'm', usageRequestId: 'u1' })).status, 200);
  folder.write({ 'a/agency.yaml': agency('local/other') });
  await until(async () => (await getAgency(api, 'a')).error === null);
  assert.equal((await ask(api, 'a', { consumerId: 'm', usageRequestId: 'u2' })).status, 200);
  assert.deepEqual(
    local.calls.map(({ body }) => body.model),
    ['priced', 'priced', 'other'],
  );
});

test('a model without a price breaks its agency at the start, not the server', async (t) => {
  await using local = await provider('chat');
  using folder = new AgenciesFolder({
    'providers.yaml': `local: { api: chat, baseUrl: ${local.baseUrl} }\n`,
    'a/agency.yaml': agency('local/priced'),
    'b/agency.yaml': agency('local/priced'),
  });
  const dataDir = getFolder(t);
  const price = { input: 1, cachedInput: 1, output: 1 };
  const env = { RUNWIRE_AGENCIES_DIR: folder.path, RUNWIRE_PRICES: JSON.stringify({ 'local/priced': price }) };
  {
    await using server = await startTestServer({ env, dataDir });
    await ask(server.api, 'a');
    await server.api.put('/v2/integrations/a/members/m', {});
    const allowances = { unit: 'credits', limit: 1_000_000, period: 'month' };
    assert.equal((await server.api.patch('/v2/integrations/a', { allowances })).status, 200);
  }
  folder.write({ 'a/agency.yaml': `${agency('local/priced')}fallback: [local/free]\n` });
  await using server = await startTestServer({ env, dataDir });
  const { api } = server;
  assert.match((await getAgency(api, 'a')).error.message, /`a` has allowances in credits.*`local\/free`/);
  const refused = await ask(api, 'a', { consumerId: 'm', usageRequestId: 'u' });
  assert.deepEqual([refused.status, refused.body.code], [503, 'agency_unavailable']);
  assert.equal((await ask(api, 'b')).status, 200);
});

test('web_search needs a model whose provider has it', async () => {
  await using local = await provider('responses');
  const agent = (model: string, more: string) => `name: Support
agents:
  - name: Helper
    instructions: Help.
    tools: [WebSearch]
    model: ${model}
${more}`;
  using folder = new AgenciesFolder({
    'providers.yaml': `plain: { api: chat, baseUrl: ${local.baseUrl} }\nlocal: { api: responses, baseUrl: ${local.baseUrl} }\n`,
    'good/agency.yaml': agent('local/m', '    files: false\n'),
    'bad/agency.yaml': agent('plain/m', ''),
    'second/agency.yaml': agent('local/m', '    fallback: [local/n, plain/n]\n'),
    'chosen/agency.yaml': agent('local/m', '    settings: { toolChoice: web_search }\n'),
    'none/agency.yaml': agent('local/m', '    files: false\n').replace('    model: local/m\n', ''),
  });
  const env = { RUNWIRE_AGENCIES_DIR: folder.path, RUNWIRE_MODEL: 'plain/m' };
  await using server = await startTestServer({ env });
  const { api } = server;
  assert.equal((await ask(api, 'good')).status, 200);
  assert.deepEqual(local.calls[0]?.body.tools, [{ type: 'web_search' }]);
  const fault = (model: string) =>
    `agency.yaml:5:13: \`web_search\` is a tool of the model's provider, and the provider of \`${model}\` has none; name another model, or remove the tool.`;
  assert.equal((await getAgency(api, 'bad')).error.message, fault('plain/m'));
  assert.equal((await getAgency(api, 'second')).error.message, fault('plain/n'));
  assert.match((await getAgency(api, 'chosen')).error.message, /`toolChoice` is `web_search`; write /);
  // The installation's model is asked without the tool.
  local.onCall = (call) => void call.stream(wire('chat', hello));
  assert.equal((await ask(api, 'none')).status, 200);
  assert.equal(local.calls.at(-1)?.body.tools, undefined);
});

test('the samples of docs/providers.md are accepted', async () => {
  using folder = new AgenciesFolder({ 'providers.yaml': listSamples('docs/providers.md', 'yaml').join('\n') });
  const { entries, faults } = await readProviders(folder.path, () => 'sk-1');
  assert.deepEqual([faults, [...entries.keys()]], [[], ['local', 'openai', 'bedrock-eu']]);
  // The sample's package is replaced by an installed package.
  const [sample = ''] = listSamples('docs/providers.md', 'ts');
  const code = sample.replaceAll('GoogleGenerativeAI', 'Anthropic').replaceAll('@ai-sdk/google', '@ai-sdk/anthropic');
  folder.write({ 'support/agency.ts': code });
  folder.link('node_modules/@ai-sdk/anthropic', join(root, 'node_modules/@ai-sdk/anthropic'));
  folder.delete('providers.yaml');
  const { stdout } = await runwire(['agencies', 'check', folder.path]);
  assert.equal(stdout, 'support: ok (typescript, 1 agent)\n');
});
