import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { type ApiClient, startTestServer } from '@runwire/server/testing';
import { FakeProvider } from '@runwire/test-kit/fake-provider.ts';
import { hello, wire } from '@runwire/test-kit/provider-rig.ts';
import { cites } from '../requirements/cite.ts';
import { AgenciesFolder } from './support/agencies-folder.ts';
import { root, runwire } from './support/cli-process.ts';

const agency = (model: string) => `name: Support
agents:
  - { name: Helper, instructions: Help., model: ${model} }
`;

const toError = async (api: ApiClient, id: string): Promise<string | undefined> =>
  (await api.get('/v2/agencies')).body.items.find((item: { agency: string }) => item.agency === id).error?.message;

async function ask(api: ApiClient, id: string) {
  await api.post('/v2/integrations', { apiIntegrationId: id, agency: id, textOnly: true });
  const { status, body } = await api.post('/get_completion_v2', { apiIntegrationId: id, message: 'Hi' });
  const [run] = (await api.get(`/v2/integrations/${id}/runs`)).body.items;
  const [step] = (await api.get(`/v2/integrations/${id}/runs/${run.runId}/steps`)).body.items;
  return [status, body, step?.model];
}

const packageJson = (name: string) => JSON.stringify({ name, version: '1.0.0', type: 'module', exports: './index.js' });

/** A provider package whose models answer with the option `word` and their name. */
const OWN_PACKAGE = `export const createOther = () => { throw new Error('The wrong function.'); };
export const createOwn = ({ word }) => ({
  languageModel(modelId) {
    if (modelId === 'missing') throw new Error('There is no such model.');
    const specificationVersion = modelId === 'old' ? 'v2' : 'v3';
    return { specificationVersion, provider: 'own.chat', modelId, doStream };
    async function doStream() {
      const usage = { inputTokens: { total: 2 }, outputTokens: { total: 1 } };
      return {
        stream: ReadableStream.from([
          { type: 'text-delta', id: '1', delta: word + ' ' + modelId },
          { type: 'finish', usage, finishReason: { unified: 'stop', raw: 'stop' } },
        ]),
      };
    }
  },
});
`;

function packagesFolder(files: Readonly<Record<string, string>>): AgenciesFolder {
  const folder = new AgenciesFolder(files);
  folder.link('node_modules/@ai-sdk/anthropic', join(root, 'node_modules/@ai-sdk/anthropic'));
  return folder;
}

test('packages of the AI SDK answer under the name that providers.yaml gives them', async (t) => {
  cites(t, 'agents-12-packages');
  await using provider = await FakeProvider.start();
  provider.onCall = (call) => void call.stream(wire('messages', hello));
  using folder = packagesFolder({
    'providers.yaml': `claude:
  package: "@ai-sdk/anthropic"
  options: { baseURL: ${provider.baseUrl}, apiKey: "\${CLAUDE_KEY}" }
  models: { claude-sonnet-5: { maxOutputTokens: 70 } }
mine: { package: own-provider, options: { word: "\${WORD}" } }
`,
    'node_modules/own-provider/package.json': packageJson('own-provider'),
    'node_modules/own-provider/index.js': OWN_PACKAGE,
    'a/agency.yaml': agency('claude/claude-sonnet-5').replace(' }', ', settings: { maxOutputTokens: 80 } }'),
    'b/agency.yaml': agency('mine/m-1'),
    'old/agency.yaml': agency('mine/old'),
    'missing/agency.yaml': agency('mine/missing'),
  });
  const env = { RUNWIRE_AGENCIES_DIR: folder.path, CLAUDE_KEY: 'sk-1', WORD: 'Good', RUNWIRE_MODEL: 'mine/default' };
  await using server = await startTestServer({ env });
  const { api } = server;
  assert.deepEqual(await ask(api, 'a'), [200, 'Hello', 'claude/claude-sonnet-5']);
  const [call] = provider.calls;
  assert.deepEqual([call?.headers['x-api-key'], call?.body.max_tokens], ['sk-1', 70]);
  assert.deepEqual(await ask(api, 'b'), [200, 'Good m-1', 'mine/m-1']);
  assert.equal(server.server.modelLocation, 'the package own-provider');
  assert.equal(
    await toError(api, 'old'),
    'agency.yaml:3:49: The package `own-provider` makes models of specification `v2`; install a version that makes v3 or v4.',
  );
  assert.match((await toError(api, 'missing')) ?? '', /`own-provider` refused its options: There is no such model\.$/);
});

test('a package that cannot be loaded breaks only the agencies that name its models', async (t) => {
  cites(t, 'agents-12-missing');
  using folder = packagesFolder({
    'providers.yaml': `throws: { package: throws }
exits: { package: exits }
empty: { package: empty }
gone: { package: gone-provider }
`,
    'good/agency.yaml': agency('offline/demo'),
    ...Object.fromEntries(
      ['throws', 'exits', 'empty', 'gone', 'cohere', 'google'].map((id) => [`${id}/agency.yaml`, agency(`${id}/m`)]),
    ),
    'node_modules/throws/package.json': packageJson('throws'),
    'node_modules/throws/index.js': "throw new Error('Not today.');\n",
    'node_modules/exits/package.json': packageJson('exits'),
    'node_modules/exits/index.js': 'process.exit(3);\n',
    'node_modules/empty/package.json': packageJson('empty'),
    'node_modules/empty/index.js': 'export const provider = {};\n',
    'node_modules/@ai-sdk/google/package.json': packageJson('@ai-sdk/google'),
    'node_modules/@ai-sdk/google/index.js': OWN_PACKAGE,
  });
  await using server = await startTestServer({ env: { RUNWIRE_AGENCIES_DIR: folder.path } });
  const { api } = server;
  assert.equal((await ask(api, 'good'))[0], 200);
  const install = (name: string) =>
    `The package \`${name}\` is not installed; run \`npm install ${name}\` in the folder of agencies, and start the server again.`;
  const expected = {
    throws: 'The package `throws` could not be loaded: Not today.',
    exits: 'The package `exits` cannot be used. It ended the process while it was loaded; remove `process.exit`.',
    empty: 'The package `empty` exports no `create…` function; name a provider package.',
    gone: install('gone-provider'),
    cohere: install('@ai-sdk/cohere'),
    google: 'Models of `google` need a key; set GOOGLE_GENERATIVE_AI_API_KEY, and start the server again.',
  };
  for (const [id, sentence] of Object.entries(expected)) {
    assert.equal(await toError(api, id), `agency.yaml:3:49: ${sentence}`);
  }
  const { stdout, code } = await runwire(['agencies', 'check', join(folder.path, 'cohere')]);
  assert.deepEqual([stdout, code], [`cohere/agency.yaml:3:49: ${expected.cohere}\n`, 1]);
});

test('a well-known provider needs its package and its key, and no providers.yaml', async (t) => {
  cites(t, 'agents-12-well-known');
  using folder = new AgenciesFolder({
    'node_modules/@ai-sdk/google/package.json': packageJson('@ai-sdk/google'),
    'node_modules/@ai-sdk/google/index.js': OWN_PACKAGE.replace('{ word }', '{ apiKey: word }').replace(
      'createOwn',
      'createGoogleGenerativeAI',
    ),
    'a/agency.yaml': agency('google/gemini-3-pro'),
    'b/agency.yaml': agency('google/m').replace(', model: google/m', ''),
  });
  const key = { GOOGLE_GENERATIVE_AI_API_KEY: 'g-1' };
  const env = { RUNWIRE_AGENCIES_DIR: folder.path, ...key, RUNWIRE_MODEL: 'google/default' };
  await using server = await startTestServer({ env });
  assert.deepEqual(await ask(server.api, 'a'), [200, 'g-1 gemini-3-pro', 'google/gemini-3-pro']);
  assert.deepEqual(await ask(server.api, 'b'), [200, 'g-1 default', 'google/default']);

  const refusals = [
    [
      { ...key, RUNWIRE_MODEL: 'google/m' },
      'RUNWIRE_MODEL is `google/m`, which needs a package; set RUNWIRE_AGENCIES_DIR to a folder, and run `npm install @ai-sdk/google` in it.',
    ],
    [
      { ...env, GOOGLE_GENERATIVE_AI_API_KEY: '' },
      'RUNWIRE_MODEL is `google/default`, which cannot be used: Models of `google` need a key; set GOOGLE_GENERATIVE_AI_API_KEY, and start the server again.',
    ],
    [
      { ...env, RUNWIRE_MODEL: 'cohere/m' },
      'RUNWIRE_MODEL is `cohere/m`, which cannot be used: The package `@ai-sdk/cohere` is not installed; run `npm install @ai-sdk/cohere` in the folder of agencies, and start the server again.',
    ],
  ] as const;
  for (const [settings, message] of refusals) await assert.rejects(startTestServer({ env: settings }), { message });
});

test('agency.ts gives models as objects', async (t) => {
  cites(t, 'agents-12-objects');
  await using provider = await FakeProvider.start();
  provider.onCall = (call) => void call.stream(wire('messages', hello));
  using folder = packagesFolder({
    'a/agency.ts': `import { createAnthropic } from '@ai-sdk/anthropic';
import { defineAgency, defineAgent } from '@runwire/agency';
const claude = createAnthropic({ baseURL: '${provider.baseUrl}', apiKey: 'sk-2' });
const helper = defineAgent({ name: 'Helper', instructions: 'Help.', fallback: [claude('claude-opus-5')] });
export default defineAgency({ name: 'Support', model: claude('claude-sonnet-5'), agents: [helper] });
`,
    'b/agency.ts': `const model = { specificationVersion: 'v2', provider: 'x', modelId: 'm', doStream: async () => null };
export default { name: 'Old', agents: [{ name: 'A', instructions: 'Help.', model }, { name: 'B', instructions: 'x', model: { id: 1 } }] };
`,
    'c/agency.ts': `const model = { specificationVersion: 'v2', provider: 'x', modelId: 'm', doStream: async () => null };
export default { name: 'Old', agents: [{ name: 'A', instructions: 'Help.', model: model }] };
`,
  });
  const prices = JSON.stringify({
    'anthropic/claude-sonnet-5': { input: 1, cachedInput: 1, output: 1 },
    'anthropic/claude-opus-5': { input: 1, cachedInput: 1, output: 1 },
    'offline/demo': { input: 1, cachedInput: 1, output: 1 },
  });
  await using server = await startTestServer({ env: { RUNWIRE_AGENCIES_DIR: folder.path, RUNWIRE_PRICES: prices } });
  const { api } = server;
  assert.deepEqual(await ask(api, 'a'), [200, 'Hello', 'anthropic/claude-sonnet-5']);
  assert.equal(provider.calls[0]?.headers['x-api-key'], 'sk-2');
  const shown = (await api.get('/v2/agencies')).body.items.find((item: { agency: string }) => item.agency === 'a');
  assert.deepEqual(
    [shown.agents[0].model, shown.agents[0].fallback],
    ['anthropic/claude-sonnet-5', ['anthropic/claude-opus-5']],
  );
  const credits = await api.patch('/v2/integrations/a', {
    allowances: { unit: 'credits', limit: 100, period: 'month' },
  });
  assert.equal(credits.status, 200, JSON.stringify(credits.body));
  assert.match((await toError(api, 'b')) ?? '', /^agency\.ts:2:\d+: `model` must be text, not an object\.$/);
  assert.equal(
    await toError(api, 'c'),
    'agency.ts:2:83: This model has the specification `v2`; use a version of its package that has `v3` or `v4`.',
  );
});
