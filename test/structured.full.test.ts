import { test } from 'node:test';
import { type Protocol, type ProviderCall, providerEvents, Rig, type StreamScript, sseText } from '@runwire/test-kit';
import { count, plantedFault } from '@runwire/test-kit/scale.ts';
import { expectEqual, named, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import { byFetch } from '@runwire/test-kit/stream-clients.ts';
import { ADAPTERS } from './support/adapters-under-test.ts';
import { MODELS, openFourProviders, PROVIDERS } from './support/four-providers.ts';

const USAGE = { requestCount: 1, inputTokens: 40, cachedTokens: 0, outputTokens: 6, reasoningTokens: 0 };
const says = (text: string, more: Partial<StreamScript> = {}): StreamScript => ({
  parts: [{ kind: 'text', deltas: [text.slice(0, 3), text.slice(3)] }],
  usage: USAGE,
  ...more,
});
/** Not as `JSON.stringify` writes it: readers get it unchanged. */
const VALID = '{ "n": 1 }';
const valid = says(VALID);
const wrong = says('It is one.');
const otherType = says('{"n":"one"}');
const cut = says(VALID.slice(0, 7), { end: 'length' });
const refused = says('', { end: 'content_filter' });
const refusedInWords: StreamScript = { parts: [{ kind: 'refusal', deltas: ['I will not.'] }], usage: USAGE };
const looks: StreamScript = {
  parts: [
    { kind: 'text', deltas: ['I look.'] },
    { kind: 'calls', calls: [['call_1', 'list_files', '{}']] },
  ],
  usage: USAGE,
};

interface Case {
  readonly answers: readonly StreamScript[];
  /** How often the model is asked. The last answer is repeated. */
  readonly calls: number;
  readonly end: 'completed' | 'output_invalid' | 'model_error';
  readonly protocols?: readonly Protocol[];
}
const CASES: Readonly<Record<string, Case>> = {
  valid: { answers: [valid], calls: 1, end: 'completed' },
  'wrong once': { answers: [wrong, valid], calls: 2, end: 'completed' },
  'wrong twice': { answers: [wrong, otherType, valid], calls: 3, end: 'completed' },
  'wrong always': { answers: [wrong], calls: 3, end: 'output_invalid' },
  'cut once': { answers: [cut, valid], calls: 2, end: 'completed' },
  'cut always': { answers: [cut], calls: 3, end: 'output_invalid' },
  refused: { answers: [refused], calls: 1, end: 'model_error' },
  // The other protocols have no words for a refusal.
  'refused in words': { answers: [refusedInWords], calls: 1, end: 'model_error', protocols: ['responses', 'chat'] },
  'refused after a wrong try': { answers: [wrong, refused], calls: 2, end: 'model_error' },
  'a text beside a call': { answers: [looks, valid], calls: 2, end: 'completed' },
};
/** No reader may see any of these. */
const TRIES = ['is one', 'one\\"', 'I look', 'will not'];

const getAgency = (model: string) => `name: Numbers
model: ${model}
agents:
  - name: A
    instructions: Answer with a number.
    tools: [list_files]
    output: { type: object, properties: { n: { type: integer } }, required: [n], additionalProperties: false }
`;

class Answers {
  readonly #cases = new Map<string, { readonly answers: readonly StreamScript[]; calls: number }>();

  add(label: string, answers: readonly StreamScript[]): { readonly calls: number } {
    const one = { answers, calls: 0 };
    this.#cases.set(`<${label}>`, one);
    return one;
  }

  give(call: ProviderCall, protocol: Protocol): void {
    const [, one] = [...this.#cases].find(([label]) => call.text.includes(label)) ?? [];
    if (one === undefined) throw new Error('A call of no run.');
    one.calls += 1;
    const script = one.answers[Math.min(one.calls, one.answers.length) - 1] ?? valid;
    void call.stream(sseText(providerEvents(protocol, script)));
  }
}

/** Reads one run as events and another as text. */
async function checkCase(rig: Rig, answers: Answers, provider: string, label: string, one: Case): Promise<void> {
  const isDone = one.end === 'completed';
  const asked = answers.add(label, one.answers);
  const request = { apiIntegrationId: provider, message: `<${label}>`, usageRequestId: label };
  const reader = await rig.api().complete(request);
  await within('end of the stream', WAIT_MS, reader.over);
  const ending = JSON.parse(reader.frames.find(({ event }) => event === 'messages')?.data ?? '{}');
  expectEqual('end', ending.error?.code ?? ending.status, one.end);
  expectEqual('calls of the model', asked.calls, one.calls);
  expectEqual('tokens', [ending.usage.input_tokens, ending.usage.output_tokens], [40 * one.calls, 6 * one.calls]);
  const output = isDone ? { n: 1 } : null;
  const { body: run } = await rig.api().get(`/v2/integrations/${provider}/runs/${reader.headers['x-run-id']}`);
  expectEqual('output', [ending.output, run.output], [output, output]);
  const deltas = reader.frames.filter(({ data }) => data.includes('output_text.delta'));
  expectEqual('answer', [reader.answer, deltas.length], isDone ? [VALID, 1] : ['', 0]);
  const seen = `${deltas.map(({ data }) => data)}${JSON.stringify(ending.new_messages)}${reader.text}`;
  expectEqual(
    'wrong tries that a reader sees',
    TRIES.filter((text) => seen.includes(text) && !isToldWhy(text, ending)),
    [],
  );

  const again = answers.add(`${label} as text`, one.answers);
  const { url, api } = rig.server();
  const body = JSON.stringify({ apiIntegrationId: `${provider}-text`, message: `<${label} as text>` });
  const headers = { ...api.authorization, 'content-type': 'application/json' };
  let text = '';
  const isWhole = await within(
    'end of the text',
    WAIT_MS,
    byFetch({ url: `${url}/get_completion_v2`, headers, body }, (piece) => {
      text += piece;
    }),
  );
  expectEqual('text', [text, isWhole, again.calls], [isDone ? VALID : '', isDone, one.calls]);
}

/** The sentence of the failure quotes a refusal's words. */
const isToldWhy = (text: string, { error }: { error: { message: string } | null }) =>
  error?.message.includes(text) === true;

test('a structured answer is valid JSON, or the run fails', async () => {
  const fault = plantedFault();
  await using stack = new AsyncDisposableStack();
  const answers = new Answers();
  const files = Object.fromEntries(MODELS.map((model, place) => [`${PROVIDERS[place]}/agency.yaml`, getAgency(model)]));
  const env = await openFourProviders(stack, files, (_, call, protocol) => answers.give(call, protocol));
  await using rig = await Rig.start({ fault, env, scripted: false });
  let cases = 0;
  for (const [place, { name, protocol }] of ADAPTERS.entries()) {
    const provider = PROVIDERS[place] ?? '';
    await rig.prepare({ apiIntegrationId: provider, agency: provider });
    await rig.prepare({ apiIntegrationId: `${provider}-text`, agency: provider, textOnly: true });
    for (const [how, one] of Object.entries(CASES)) {
      if (one.protocols?.includes(protocol) === false) continue;
      await named(`${name}, ${how}`, checkCase(rig, answers, provider, `${name} ${how}`, one));
      cases += 1;
    }
  }
  count({ adapters: ADAPTERS.length, cases });
});
