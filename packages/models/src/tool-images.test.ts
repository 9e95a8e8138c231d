import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Protocol } from '@runwire/test-kit';
import { hello, PROTOCOLS, setUp, wire } from '@runwire/test-kit/provider-rig.ts';
import { makePng, SAMPLE_IMAGES } from '@runwire/test-kit/sample-images.ts';
import { cites } from '../../../requirements/cite.ts';
import { aiSdkCall } from './ai-sdk-call.ts';
import type { PromptItem } from './model.ts';
import { fittingRequest } from './model-traits.ts';
import { offlineModel } from './offline-model.ts';
import type { PromptImage } from './prompt-attachment.ts';
import { promptBytes } from './prompt-bytes.ts';
import { Listener, modelRequest } from './testing/model-conformance.ts';

const never = () => new AbortController().signal;
const png = makePng(300_000, 0xa7);
const gif = Buffer.from(SAMPLE_IMAGES['image/gif'], 'base64');

const image = (bytes: Buffer, mediaType: string): PromptImage => ({
  kind: 'image',
  name: null,
  mediaType,
  sizeBytes: bytes.length,
  detail: 'auto',
  read: async () => bytes,
});
const PNG = image(png, 'image/png');
const GIF = image(gif, 'image/gif');

const call = (callId: string): PromptItem => ({ kind: 'tool_call', callId, name: 'look', arguments: '{}' });
const output = (callId: string, text: string, ...images: PromptImage[]): PromptItem => ({
  kind: 'tool_output',
  callId,
  output: text,
  ...(images.length > 0 && { images }),
});

/** Two turns: in the first one two calls return images, one of them without text, and one call returns none. */
const PROMPT: readonly PromptItem[] = [
  { kind: 'user', text: 'Look' },
  call('a'),
  call('b'),
  call('c'),
  output('a', 'Two', PNG, GIF),
  output('b', '', GIF),
  output('c', 'None'),
  { kind: 'assistant', text: 'Seen' },
  { kind: 'user', text: 'And?' },
];

const base64 = (one: PromptImage) => (one === PNG ? png : gif).toString('base64');
const dataUrl = (one: PromptImage) => `data:${one.mediaType};base64,${base64(one)}`;

/** The results of the first turn, and what is between them and the answer. */
const EXPECTED: Readonly<Record<Protocol, readonly unknown[]>> = (() => {
  const text = (type: string) => (value: string) => ({ type, text: value });
  const inResponses = (one: PromptImage) => ({ type: 'input_image', image_url: dataUrl(one), detail: 'auto' });
  const inChat = (one: PromptImage) => ({ type: 'image_url', image_url: { url: dataUrl(one), detail: 'auto' } });
  const inMessages = (one: PromptImage) => ({
    type: 'image',
    source: { type: 'base64', media_type: one.mediaType, data: base64(one) },
  });
  const input = text('input_text');
  const plain = text('text');
  const named = (id: string) => plain(`[The images of the output of the call ${id}]`);
  const result = (tool_use_id: string, content: unknown) => ({ type: 'tool_result', tool_use_id, content });
  return {
    responses: [
      {
        type: 'function_call_output',
        call_id: 'a',
        output: [input('Two'), inResponses(PNG), inResponses(GIF)],
      },
      { type: 'function_call_output', call_id: 'b', output: [inResponses(GIF)] },
      { type: 'function_call_output', call_id: 'c', output: 'None' },
    ],
    chat: [
      { role: 'tool', tool_call_id: 'a', content: 'Two' },
      { role: 'tool', tool_call_id: 'b', content: '' },
      { role: 'tool', tool_call_id: 'c', content: 'None' },
      { role: 'user', content: [named('a'), inChat(PNG), inChat(GIF), named('b'), inChat(GIF)] },
    ],
    messages: [
      {
        role: 'user',
        content: [
          result('a', [plain('Two'), inMessages(PNG), inMessages(GIF)]),
          result('b', [inMessages(GIF)]),
          result('c', 'None'),
        ],
      },
    ],
  };
})();

for (const api of PROTOCOLS) {
  test(`${api}: images from tools are sent in its form, in every turn`, async (t) => {
    cites(t, 'contract-30-sent');
    await using set = await setUp(api);
    const ask = async (prompt: readonly PromptItem[], earlierItems: number) => {
      const done = set.model.call(modelRequest('', { prompt, earlierItems }), new Listener(), never());
      const made = await set.provider.nextCall();
      await made.stream(wire(api, hello));
      await done;
      return (made.body.input ?? made.body.messages) as readonly Record<string, unknown>[];
    };
    const isResult = ({ type, role, content }: Record<string, unknown>) =>
      type === 'function_call_output' || role === 'tool' || (role === 'user' && Array.isArray(content));
    const first = await ask(PROMPT.slice(0, 7), 0);
    const results = first
      .filter(isResult)
      .filter(({ content }) => JSON.stringify(content) !== '[{"type":"text","text":"Look"}]');
    assert.deepEqual(results, EXPECTED[api]);
    const later = await ask(PROMPT, 8);
    assert.deepEqual(later.slice(0, first.length), first);
    const again = await ask(PROMPT, 8);
    assert.deepEqual(again, later);
  });
}

for (const [version, provider, isInResult] of [
  ['v4', 'anthropic.messages', true],
  ['v3', 'google.generative-ai', true],
  ['v4', 'openai.chat', false],
  ['v3', 'mistral.chat', false],
] as const) {
  test(`AI SDK ${version}, ${provider}: images are ${isInResult ? 'within' : 'after'} the results`, async () => {
    const model = {
      specificationVersion: version,
      provider,
      modelId: 'm',
      doStream: () => Promise.reject(new Error()),
    };
    const { prompt } = await aiSdkCall(model, modelRequest('', { prompt: PROMPT }), new Map(), never());
    const tool = prompt.find(({ role }) => role === 'tool')?.content as unknown as readonly { output: unknown }[];
    const users = prompt.filter(({ role }) => role === 'user');
    const inResult = (one: PromptImage) =>
      version === 'v3'
        ? { type: 'image-data', mediaType: one.mediaType, data: base64(one) }
        : { type: 'file', mediaType: one.mediaType, data: { type: 'data', data: one === PNG ? png : gif } };
    const asFile = (one: PromptImage) => {
      const data = one === PNG ? png : gif;
      return { type: 'file', mediaType: one.mediaType, data: version === 'v3' ? data : { type: 'data', data } };
    };
    const text = (value: string) => ({ type: 'text', text: value });
    if (isInResult) {
      assert.deepEqual(
        tool?.map((part) => part.output),
        [
          { type: 'content', value: [text('Two'), inResult(PNG), inResult(GIF)] },
          { type: 'content', value: [inResult(GIF)] },
          { type: 'text', value: 'None' },
        ],
      );
      assert.equal(users.length, 2);
    } else {
      assert.deepEqual(
        tool?.map((part) => part.output),
        [
          { type: 'text', value: 'Two' },
          { type: 'text', value: '' },
          { type: 'text', value: 'None' },
        ],
      );
      const named = (id: string) => text(`[The images of the output of the call ${id}]`);
      assert.deepEqual(users[1]?.content, [named('a'), asFile(PNG), asFile(GIF), named('b'), asFile(GIF)]);
    }
  });
}

test('a model without images gets their names in brackets', (t) => {
  cites(t, 'contract-30-unseen');
  const { prompt } = fittingRequest(modelRequest('', { prompt: PROMPT }), { images: false });
  assert.deepEqual(prompt.slice(4, 7), [
    output('a', `Two\n[image, image/png, ${png.length} bytes]\n[image, image/gif, ${gif.length} bytes]`),
    output('b', `[image, image/gif, ${gif.length} bytes]`),
    output('c', 'None'),
  ]);
});

test('an image of a tool counts as 1000 tokens, and the offline model names it', async (t) => {
  cites(t, 'contract-30-tokens');
  assert.equal(promptBytes('', [output('a', 'abcd', PNG, GIF)]), 8004);
  const heard = new Listener();
  const prompt: readonly PromptItem[] = [{ kind: 'user', text: '/tool look' }, call('a'), output('a', 'One', GIF)];
  const { usage } = await offlineModel.call(modelRequest('', { prompt }), heard, never());
  assert.match(heard.all('text'), new RegExp(`It returned: One\\n\\[image, image/gif, ${gif.length} bytes\\]$`));
  assert.ok(Number(usage?.inputTokens) > 1000);
});
