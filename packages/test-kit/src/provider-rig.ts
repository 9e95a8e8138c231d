import assert from 'node:assert/strict';
import { ProviderModels } from '@runwire/models/provider-models';
import { Listener, modelRequest } from '@runwire/models/src/testing/model-conformance.ts';
import { type Protocol, providerEvents, sseText } from '@runwire/models/src/testing/provider-streams.ts';
import type { StreamScript } from '@runwire/models/src/testing/stream-script.ts';
import type { ModelRequest } from '@runwire/server/src/agent/ports.ts';
import type { Usage } from '@runwire/server/src/domain/model/usage.ts';
import { FakeProvider } from './fake-provider.ts';

export const KEY = 'sk-secret-0123456789';
export const OPENAI_PROTOCOLS: readonly Protocol[] = ['responses', 'chat'];
export const PROTOCOLS: readonly Protocol[] = [...OPENAI_PROTOCOLS, 'messages'];
export const USAGE: Usage = { requestCount: 1, inputTokens: 20, cachedTokens: 8, outputTokens: 9, reasoningTokens: 4 };

interface RigOptions {
  readonly silenceMs?: number;
  readonly apiKey?: string | null;
  readonly model?: string;
  /** Another provider's address than that of the rig. */
  readonly baseUrl?: string;
}

/** A model, and the provider that it asks: Anthropic for its protocol, otherwise OpenAI. */
export async function setUp(api: Protocol, more: RigOptions = {}) {
  const provider = await FakeProvider.start();
  const name = getProvider(api);
  const { baseUrl } = provider;
  const { model: modelName = 'm', ...options } = more;
  const models = new ProviderModels({ name, baseUrl, apiKey: KEY, silenceMs: 60_000, api, ...options });
  const model = models.model(`${name}/${modelName}`);
  assert.ok(model !== null);
  const ask = (
    request: Partial<ModelRequest> = {},
    signal: AbortSignal = new AbortController().signal,
    output = new Listener(),
  ) => {
    const done = model.call(modelRequest('Hi', request), output, signal);
    done.catch(() => {});
    return { output, done };
  };
  const dispose = async () => {
    await models[Symbol.asyncDispose]();
    await provider[Symbol.asyncDispose]();
  };
  return { provider, model, ask, [Symbol.asyncDispose]: dispose };
}

export const getProvider = (api: Protocol) => (api === 'messages' ? 'anthropic' : 'openai');
export const wire = (api: Protocol, script: StreamScript) => sseText(providerEvents(api, script));
export const hello: StreamScript = { parts: [{ kind: 'text', deltas: ['Hel', 'lo'] }], usage: USAGE };

export const long: StreamScript = {
  parts: [{ kind: 'text', deltas: Array(2000).fill('x'.repeat(1000)) }],
  usage: USAGE,
};
