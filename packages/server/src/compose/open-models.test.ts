import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Listener, modelRequest } from '@runwire/models/src/testing/model-conformance.ts';
import { agencyProcesses } from '@runwire/test-kit/agency-processes.ts';
import { FakeProvider } from '@runwire/test-kit/fake-provider.ts';
import { hello, wire } from '@runwire/test-kit/provider-rig.ts';
import { readConfig } from '../config/read-config.ts';
import { openModels } from './open-models.ts';

test('models of several providers answer at the same time, each at its own address with its own key', async () => {
  await using stack = new AsyncDisposableStack();
  const names = ['openai', 'anthropic', 'openrouter', 'groq', 'mistral', 'deepseek', 'xai', 'together'];
  const env: Record<string, string> = {};
  const providers = new Map<string, FakeProvider>();
  for (const name of names) {
    const provider = stack.use(await FakeProvider.start());
    providers.set(name, provider);
    const api = name === 'openai' ? 'responses' : name === 'anthropic' ? 'messages' : 'chat';
    provider.onCall = (call) => void call.stream(wire(api, hello));
    env[`${name.toUpperCase()}_BASE_URL`] = provider.baseUrl;
    env[`${name.toUpperCase()}_API_KEY`] = `sk-${name}`;
  }
  const { config, secrets } = readConfig(env);
  const models = await openModels(config, secrets, { limits: config.limits, processes: agencyProcesses() }, stack);
  await Promise.all(
    names.map(async (name) => {
      const output = new Listener();
      const model = models.find(`${name}/org/m`);
      await model?.call(modelRequest('Hi', { settings: { maxOutputTokens: 5 } }), output, new AbortController().signal);
      assert.equal(output.all('text'), 'Hello', name);
      const [call, ...others] = providers.get(name)?.calls ?? [];
      assert.deepEqual(others, []);
      assert.equal(call?.body.model, 'org/m');
      assert.equal(call?.headers['x-api-key'] ?? call?.headers.authorization?.slice(7), `sk-${name}`);
      if (name === 'openai' || name === 'anthropic') return;
      assert.equal(call?.body.max_tokens, 5);
      assert.equal(call?.body.stream_options?.include_usage, name === 'mistral' ? undefined : true);
    }),
  );
  for (const id of ['', 'openai', 'openai/', '/m', 'nobody/m', 'openaix/m']) assert.equal(models.find(id), null, id);
});

test('a provider without a key is known but not loaded before its first call', async () => {
  await using stack = new AsyncDisposableStack();
  const { config, secrets } = readConfig({});
  const models = await openModels(config, secrets, { limits: config.limits, processes: agencyProcesses() }, stack);
  assert.equal(models.find('openai/m'), null);
  const model = models.find('ollama/m');
  assert.deepEqual([model?.id, models.defaultId], ['ollama/m', 'offline/demo']);
  // Nothing listens at this address in a test.
  const call = model?.call(modelRequest('Hi'), new Listener(), AbortSignal.timeout(20));
  await assert.rejects(async () => call);
});

test('errors name the field of providers.yaml, or the variable that is read', async () => {
  await using stack = new AsyncDisposableStack();
  const provider = stack.use(await FakeProvider.start());
  const folder = mkdtempSync(join(tmpdir(), 'runwire-providers-'));
  stack.defer(() => rmSync(folder, { recursive: true }));
  const file = `local: { api: chat, baseUrl: "${provider.baseUrl}" }
groq: { baseUrl: "${provider.baseUrl}" }
mistral: { apiKey: sk-file }
openai: { apiKey: sk-file, baseUrl: "${provider.baseUrl}" }
`;
  writeFileSync(join(folder, 'providers.yaml'), file);
  const { config, secrets } = readConfig({
    RUNWIRE_AGENCIES_DIR: folder,
    GROQ_API_KEY: 'sk-1',
    MISTRAL_BASE_URL: provider.baseUrl,
  });
  const models = await openModels(config, secrets, { limits: config.limits, processes: agencyProcesses() }, stack);
  const toMessage = async (id: string, status: number) => {
    provider.onCall = (call) => void call.answer(status, {});
    const call = models.find(id)?.call(modelRequest('Hi'), new Listener(), new AbortController().signal);
    return call?.then(
      () => 'no error',
      (error: Error) => error.message,
    );
  };
  const setting = /(set|check) (\S+( in providers\.yaml)?)\.$/;
  const told = async (id: string, status: number) => setting.exec((await toMessage(id, status)) ?? '')?.[2];
  assert.equal(await told('local/m', 401), '`local.apiKey` in providers.yaml');
  assert.equal(await told('local/m', 307), '`local.baseUrl` in providers.yaml');
  assert.equal(await told('groq/m', 401), 'GROQ_API_KEY');
  assert.equal(await told('groq/m', 307), '`groq.baseUrl` in providers.yaml');
  assert.equal(await told('mistral/m', 401), '`mistral.apiKey` in providers.yaml');
  assert.equal(await told('mistral/m', 307), 'MISTRAL_BASE_URL');
  // An answer that is no event stream.
  assert.match(
    (await toMessage('openai/m', 200)) ?? '',
    /check `openai\.baseUrl` in providers\.yaml and `openai\.api` in providers\.yaml\.$/,
  );
});
