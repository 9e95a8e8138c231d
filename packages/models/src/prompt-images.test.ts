import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hello, PROTOCOLS, setUp, wire } from '@runwire/test-kit/provider-rig.ts';
import { makePng, SAMPLE_IMAGES } from '@runwire/test-kit/sample-images.ts';
import type { PromptItem } from './model.ts';
import { ModelFailure } from './model-failure.ts';
import { offlineModel } from './offline-model.ts';
import type { PromptAttachment } from './prompt-attachment.ts';
import { promptBytes } from './prompt-bytes.ts';
import { Listener, modelRequest } from './testing/model-conformance.ts';

type PromptImage = Extract<PromptAttachment, { kind: 'image' }>;

const never = () => new AbortController().signal;

/** Counts the reads of each image and how many are in memory concurrently. */
class Album {
  reads = 0;

  image(bytes: Buffer, detail: PromptImage['detail'] = 'auto', mediaType = 'image/png'): PromptImage {
    return {
      kind: 'image',
      name: null,
      mediaType,
      sizeBytes: bytes.length,
      detail,
      read: async () => {
        this.reads += 1;
        return bytes;
      },
    };
  }
}

const small = Buffer.from(SAMPLE_IMAGES['image/png'], 'base64');
const jpeg = Buffer.from(SAMPLE_IMAGES['image/jpeg'], 'base64');
/** Large enough for several pieces, with a length that needs base64 padding. */
const large = makePng(1_000_000, 0xa7);
const url = (bytes: Buffer, mediaType = 'image/png') => `data:${mediaType};base64,${bytes.toString('base64')}`;

const text = (type: string) => (value: string) => ({ type, text: value });
const part = {
  responses: {
    text: text('input_text'),
    image: (bytes: Buffer, detail: string, type = 'image/png') => {
      return { type: 'input_image', image_url: url(bytes, type), detail };
    },
  },
  chat: {
    text: text('text'),
    image: (bytes: Buffer, detail: string, type = 'image/png') => {
      return { type: 'image_url', image_url: { url: url(bytes, type), detail } };
    },
  },
  messages: {
    text: text('text'),
    image: (bytes: Buffer, _detail: string, media_type = 'image/png') => {
      return { type: 'image', source: { type: 'base64', media_type, data: bytes.toString('base64') } };
    },
  },
};

for (const api of PROTOCOLS) {
  test(`${api}: images follow the text of their own turn, and other turns do not change`, async () => {
    await using set = await setUp(api);
    const album = new Album();
    const prompt: PromptItem[] = [
      { kind: 'user', text: 'Before' },
      { kind: 'assistant', text: 'Yes' },
      { kind: 'user', text: 'Look: é', attachments: [album.image(small, 'low'), album.image(large, 'high')] },
      { kind: 'assistant', text: 'Seen' },
      { kind: 'user', text: '', attachments: [album.image(jpeg, 'auto', 'image/jpeg')] },
    ];
    const output = new Listener();
    const done = set.model.call(modelRequest('', { prompt }), output, never());
    const call = await set.provider.nextCall();
    await call.stream(wire(api, hello));
    await done;
    const { text, image } = part[api];
    const plain = (value: string) => (api === 'messages' ? [text(value)] : value);
    const all = (call.body.input ?? call.body.messages) as { role: string; content: unknown }[];
    const sent = all.filter(({ role }) => role !== 'system');
    assert.deepEqual(
      sent.map(({ role, content }) => [role, content]),
      [
        ['user', plain('Before')],
        ['assistant', plain('Yes')],
        ['user', [text('Look: é'), image(small, 'low'), image(large, 'high')]],
        ['assistant', plain('Seen')],
        ['user', [image(jpeg, 'auto', 'image/jpeg')]],
      ],
    );
    assert.equal(call.headers['transfer-encoding'], undefined);
    assert.ok(Number(call.headers['content-length']) > large.length);
    assert.equal(output.all('text'), 'Hello');
    assert.equal(album.reads, 3);
  });

  test(`${api}: a retry after a busy answer sends the same bytes again`, async () => {
    await using set = await setUp(api);
    const album = new Album();
    const prompt: PromptItem[] = [{ kind: 'user', text: 'Look', attachments: [album.image(large)] }];
    const done = set.model.call(modelRequest('', { prompt }), new Listener(), never());
    const first = await set.provider.nextCall();
    first.answer(503, {}, { 'retry-after': '0' });
    const second = await set.provider.nextCall();
    await second.stream(wire(api, hello));
    await done;
    assert.deepEqual(second.body, first.body);
    assert.equal(album.reads, 2);
  });

  test(`${api}: an unreadable image fails the call with its own sentence and without a retry`, async () => {
    await using set = await setUp(api);
    const album = new Album();
    const missing: PromptImage = {
      ...album.image(small),
      read: async () => {
        album.reads += 1;
        throw new ModelFailure('attachment_unavailable', '`attachments[0]` is missing.');
      },
    };
    const prompt: PromptItem[] = [{ kind: 'user', text: 'Look', attachments: [album.image(large), missing] }];
    await assert.rejects(set.model.call(modelRequest('', { prompt }), new Listener(), never()), (error) => {
      assert.ok(error instanceof ModelFailure);
      assert.deepEqual([error.code, error.message], ['attachment_unavailable', '`attachments[0]` is missing.']);
      return true;
    });
    assert.deepEqual([album.reads, set.provider.calls.length], [2, 0]);
  });

  test(`${api}: an abort during the read of an image ends the call immediately`, async () => {
    await using set = await setUp(api);
    const { promise: reading, resolve: began } = Promise.withResolvers<void>();
    const stuck: PromptImage = {
      ...new Album().image(small),
      read: () => {
        began();
        return new Promise(() => {});
      },
    };
    const controller = new AbortController();
    const prompt: PromptItem[] = [{ kind: 'user', text: 'Look', attachments: [stuck] }];
    const done = set.model.call(modelRequest('', { prompt }), new Listener(), controller.signal);
    done.catch(() => {});
    await reading;
    controller.abort();
    await assert.rejects(done, { name: 'AbortError' });
    assert.equal(set.provider.calls.length, 0);
  });
}

test('the offline model describes the images and counts each as 1000 tokens', async () => {
  const album = new Album();
  const images = [album.image(small), album.image(jpeg, 'low', 'image/jpeg')];
  const prompt: PromptItem[] = [
    { kind: 'user', text: 'Earlier', attachments: [album.image(large)] },
    { kind: 'user', text: 'Look', attachments: images },
  ];
  const output = new Listener();
  const { usage } = await offlineModel.call(modelRequest('', { prompt }), output, never());
  assert.ok(
    output
      .all('text')
      .endsWith(
        `You said: Look (2 images came with it: image/png of ${small.length} bytes, image/jpeg of ${jpeg.length} bytes)`,
      ),
    output.all('text'),
  );
  const texts = Math.ceil(Buffer.byteLength('Be brief.EarlierLook') / 4);
  assert.equal(usage?.inputTokens, 3000 + texts);
  assert.equal(promptBytes('', [{ kind: 'user', text: 'abcd', attachments: images }]), 8004);
});
