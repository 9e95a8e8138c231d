import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import {
  FakeProvider,
  imageAttachment,
  type ModelCall,
  makePng,
  providerEvents,
  SAMPLE_IMAGES,
  type ShownImage,
  sseText,
  startTestServer,
  TEST_API_KEY,
  temporaryFolder,
} from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { blobsIn } from './support/attachment-rig.ts';
import { messagesFrame, refusal, ScriptedServer } from './support/scripted-server.ts';

const MEBIBYTE = 1024 * 1024;
const png = Buffer.from(SAMPLE_IMAGES['image/png'], 'base64');
const gif = Buffer.from(SAMPLE_IMAGES['image/gif'], 'base64');

/** Returns the images of each user turn that the model receives. */
function imagesShown(call: ModelCall): Pick<ShownImage, 'mediaType' | 'detail' | 'base64'>[][] {
  return call.request.prompt.flatMap((item) =>
    item.kind === 'user'
      ? [
          ((item.attachments ?? []) as unknown as ShownImage[]).map(({ mediaType, detail, base64 }) => ({
            mediaType,
            detail,
            base64,
          })),
        ]
      : [],
  );
}

test('each kind of image reaches the model unchanged, with its detail', async (t) => {
  cites(t, 'spec-1-files-inline', 'spec-2.2-image-inline', 'spec-2.2-detail-default');
  await using rig = await ScriptedServer.start();
  const attachments = [
    { type: 'input_image', image_url: `data:image/png;base64,${SAMPLE_IMAGES['image/png']}`, detail: 'low' },
    { type: 'input_image', image_url: `data:image/jpeg;base64,${SAMPLE_IMAGES['image/jpeg']}`, detail: 'high' },
    { type: 'input_image', image_url: `data:image/gif;base64,${SAMPLE_IMAGES['image/gif']}`, detail: 'auto' },
    { type: 'input_image', image_url: `data:image/png;base64,${SAMPLE_IMAGES['image/webp']}` },
    { type: 'input_image', image_url: `data:image/png;base64,${SAMPLE_IMAGES['image/png']}` },
  ];
  const { call } = await rig.answer({ chatId: 'c', message: 'Look', attachments });
  const expected = [
    ['image/png', 'low'],
    ['image/jpeg', 'high'],
    ['image/gif', 'auto'],
    ['image/webp', 'auto'],
    ['image/png', 'auto'],
  ] as const;
  assert.deepEqual(imagesShown(call), [
    expected.map(([mediaType, detail]) => ({ mediaType, detail, base64: SAMPLE_IMAGES[mediaType] })),
  ]);
  assert.equal(blobsIn(rig.server.dataDir).length, 4, 'the one that came twice is kept once');

  const { body } = await rig.api.get('/v2/integrations/demo/chats/c/messages');
  const [answer, question] = body.items;
  assert.deepEqual(answer.attachments, []);
  assert.deepEqual(
    question.attachments,
    expected.map(([mediaType, detail]) => {
      const bytes = Buffer.from(SAMPLE_IMAGES[mediaType], 'base64');
      const image_url = `data:${mediaType};sha256=${hash('sha256', bytes)};bytes=${bytes.length},`;
      return { type: 'input_image', image_url, detail };
    }),
  );
});

test('refuses a file that is not an image by its field, and stores nothing', async (t) => {
  cites(t, 'contract-7-data-url');
  await using rig = await ScriptedServer.start();
  const good = imageAttachment(png);
  const bad: readonly (readonly [object, RegExp])[] = [
    [
      { image_url: 'data:image/png;base64,aGVsbG8=' },
      /`attachments\[1\]\.image_url` is not a PNG, JPEG, GIF or WebP image/,
    ],
    [
      { image_url: `data:image/png;base64,${SAMPLE_IMAGES['image/png'].slice(0, -1)}` },
      /`attachments\[1\]\.image_url` is not valid base64/,
    ],
    [
      { image_url: `data:image/png;base64, ${SAMPLE_IMAGES['image/png']}` },
      /`attachments\[1\]\.image_url` is not valid base64/,
    ],
    [
      { image_url: `data:text/html;base64,${SAMPLE_IMAGES['image/png']}` },
      /`attachments\[1\]\.image_url` must begin like/,
    ],
    [{ image_url: `data:,${'0'.repeat(64)}` }, /`attachments\[1\]\.image_url` must begin like/],
    [{ image_url: 'http://example.com/a.png' }, /`attachments\[1\]\.image_url` must be an https URL/],
    [{ detail: 'medium' }, /`attachments\[1\]\.detail` must be one of/],
    [{ width: 5 }, /`attachments\[1\]\.width` is not a known field/],
  ];
  for (const [fields, says] of bad) {
    const { status, admitted, body } = await refusal(
      await rig.api.complete({ attachments: [good, { ...good, ...fields }] }),
    );
    assert.deepEqual([status, admitted, body.code], [400, 'false', 'invalid_request'], JSON.stringify(fields));
    assert.match(body.error, says);
  }
  const file = { type: 'input_file', file_url: good.image_url };
  assert.match(
    (await refusal(await rig.api.complete({ attachments: [file] }))).body.error,
    /`attachments\[0\]\.file_url` must be an https URL/,
  );
  const six = Array.from({ length: 6 }, () => good);
  assert.match(
    (await refusal(await rig.api.complete({ attachments: six }))).body.error,
    /`attachments` must have at most 5 items/,
  );
  assert.deepEqual(blobsIn(rig.server.dataDir), []);
  assert.equal(rig.controller.calls.length, 0);
});

test('accepts an image of exactly 20 MiB and refuses one more byte', async (t) => {
  cites(t, 'contract-4-limit-image');
  await using server = await startTestServer();
  const edge = imageAttachment(makePng(20 * MEBIBYTE, 0x5a));
  const reader = await server.api.complete({ chatId: 'c', message: 'Look', attachments: [edge] });
  await reader.whole();
  assert.match(reader.answer, /image\/png of 20971520 bytes/);
  const beyond = [imageAttachment(png), imageAttachment(makePng(20 * MEBIBYTE + 1))];
  const { status, body } = await refusal(await server.api.complete({ attachments: beyond }));
  assert.deepEqual([status, body.error], [400, '`attachments[1].image_url` must decode to at most 20971520 bytes.']);
  const listed = await server.api.get('/v2/integrations/demo/chats/c/messages');
  assert.ok(JSON.stringify(listed.body).length < 2000, 'a list of messages does not carry the bytes');
});

test('the largest size is a setting, for small bodies too', async (t) => {
  cites(t, 'contract-4-limit-image');
  await using rig = await ScriptedServer.start({ env: { RUNWIRE_MAX_IMAGE_BYTES: '100' } });
  await rig.answer({ attachments: [imageAttachment(makePng(100))] });
  const { status, body } = await refusal(await rig.api.complete({ attachments: [imageAttachment(makePng(101))] }));
  assert.deepEqual([status, body.error], [400, '`attachments[0].image_url` must decode to at most 100 bytes.']);
});

for (const api of ['responses', 'chat'] as const) {
  test(`${api}: a later turn sends the images of the earlier ones again, byte for byte, after a restart too`, async (t) => {
    cites(t, 'spec-1-other-attachments');
    const dataDir = temporaryFolder();
    t.after(() => rmSync(dataDir, { recursive: true, force: true }));
    await using provider = await FakeProvider.start();
    const env = { OPENAI_BASE_URL: provider.baseUrl, OPENAI_API_KEY: 'k', RUNWIRE_OPENAI_API: api };
    const sent: { items: unknown[]; text: string }[] = [];
    const ask = async (server: Awaited<ReturnType<typeof startTestServer>>, message: string, attachments: object[]) => {
      const answering = server.api.complete({ chatId: 'c', message, attachments });
      const call = await provider.nextCall();
      await call.stream(sseText(providerEvents(api, { parts: [{ kind: 'text', deltas: ['Seen'] }] })));
      const reader = await answering;
      await reader.whole();
      assert.equal(messagesFrame(reader).status, 'completed');
      const items = (call.body.input ?? call.body.messages) as unknown[];
      sent.push({ items, text: JSON.stringify(items) });
    };
    {
      await using server = await startTestServer({ dataDir, env });
      await ask(server, 'One', [imageAttachment(makePng(700_000, 3), { detail: 'high' }), imageAttachment(gif)]);
      await ask(server, 'Two', []);
    }
    await using server = await startTestServer({ dataDir, env });
    await ask(server, 'Three', [imageAttachment(png)]);
    await ask(server, 'Four', []);
    for (const [index, { text }] of sent.entries()) {
      const earlier = sent[index - 1];
      if (earlier === undefined) continue;
      assert.ok(text.startsWith(earlier.text.slice(0, -1)), `turn ${index + 1} begins with all of turn ${index}`);
    }
    const urls = sent.at(-1)?.text.match(/data:image\/[a-z]+;base64,[A-Za-z0-9+/=]+/g) ?? [];
    assert.deepEqual(
      urls.map((found) => hash('sha256', Buffer.from(found.replace(/^.*,/, ''), 'base64'))),
      [makePng(700_000, 3), gif, png].map((bytes) => hash('sha256', bytes)),
    );
    assert.match(sent.at(-1)?.text ?? '', /"detail":"high"/);
  });
}

test('images of a failed turn are not sent again, of a cancelled turn they are', async (t) => {
  cites(t, 'contract-7-failed-turn', 'spec-1-failed-attachments', 'spec-4.1-rule-5');
  await using rig = await ScriptedServer.start();
  const failed = await rig.hold({ chatId: 'c', message: 'Fail', attachments: [imageAttachment(png)] });
  await failed.call.text('Hm');
  await failed.call.fail('model_error', 'It broke.');
  await failed.reader.whole();
  const cancelled = await rig.hold({ chatId: 'c', message: 'Cancel', attachments: [imageAttachment(gif)] });
  assert.deepEqual(
    imagesShown(cancelled.call).map((images) => images.length),
    [0, 1],
  );
  await rig.api.post(`/v2/integrations/demo/runs/${cancelled.runId}/cancel`);
  const next = await rig.answer({ chatId: 'c', message: 'Again', attachments: [imageAttachment(png)] });
  assert.deepEqual(
    imagesShown(next.call).map((images) => images.map(({ mediaType }) => mediaType)),
    [[], ['image/gif'], ['image/png']],
  );
  const { body } = await rig.api.get('/v2/integrations/demo/chats/c/messages');
  const attached = body.items.filter((one: { role: string }) => one.role === 'user');
  assert.deepEqual(
    attached.map((one: { attachments: unknown[] }) => one.attachments.length),
    [1, 1, 1],
    'the history still lists what came with the failed turn',
  );
});

test('the same images make the same request; others or another detail do not', async () => {
  await using rig = await ScriptedServer.start();
  const large = makePng(2 * MEBIBYTE, 1);
  const body = { usageRequestId: 'u1', message: 'Look', attachments: [imageAttachment(large), imageAttachment(png)] };
  const first = await rig.answer(body);
  const blobs = blobsIn(rig.server.dataDir);
  const again = await rig.api.complete(body);
  await again.whole();
  assert.deepEqual(
    [again.status, again.headers['x-run-replayed'], again.headers['x-run-id']],
    [200, 'true', first.runId],
  );
  assert.equal(rig.controller.calls.length, 1);
  const changed = Buffer.from(large);
  changed[changed.length - 1] = 2;
  for (const attachments of [
    [imageAttachment(changed), imageAttachment(png)],
    [imageAttachment(png), imageAttachment(large)],
    [imageAttachment(large)],
    [imageAttachment(large), imageAttachment(png, { detail: 'low' })],
    [imageAttachment(large), imageAttachment(png, { detail: 'auto' })],
  ]) {
    const { status, body: said } = await refusal(await rig.api.complete({ ...body, attachments }));
    assert.deepEqual([status, said.code], [400, 'usage_request_id_reused']);
  }
  assert.deepEqual(blobsIn(rig.server.dataDir), blobs, 'and nothing is stored for them');
});

test('a hundred equal concurrent requests are one run with one stored image', async () => {
  await using rig = await ScriptedServer.start();
  rig.controller.answerAll('Hi');
  const body = { usageRequestId: 'u1', attachments: [imageAttachment(makePng(50_000, 9))] };
  const readers = await Promise.all(Array.from({ length: 100 }, () => rig.api.complete(body)));
  await Promise.all(readers.map((reader) => reader.whole()));
  assert.equal(new Set(readers.map((reader) => reader.headers['x-run-id'])).size, 1);
  assert.equal(rig.controller.calls.length, 1);
  assert.equal(blobsIn(rig.server.dataDir).length, 1);
});

test('a lost image fails the run free of charge; sending it again restores it', async (t) => {
  cites(t, 'contract-8-stream-attachment-unavailable', 'contract-6-charged-zero-attachment');
  await using rig = await ScriptedServer.start();
  const integration = await rig.metered({ unit: 'tokens', limit: 100_000, period: 'lifetime' });
  const body = { apiIntegrationId: integration, consumerId: 'ann', chatId: 'c' };
  const first = await rig.answer({
    ...body,
    usageRequestId: 'u1',
    attachments: [imageAttachment(gif), imageAttachment(png)],
  });
  const used = (await rig.allowance(integration)).used;
  const path = blobsIn(rig.server.dataDir).find((name) => name.includes(hash('sha256', png))) ?? '';
  const file = join(rig.server.dataDir, 'blobs', path);
  const damages: readonly (readonly [() => void, string])[] = [
    [() => rmSync(file), 'is missing from the stored files'],
    [() => truncateSync(file, 10), 'is damaged in the stored files'],
    [() => writeFileSync(file, makePng(png.length)), 'is damaged in the stored files'],
  ];
  for (const [index, [damage, says]] of damages.entries()) {
    damage();
    const reader = await rig.api.complete({ ...body, usageRequestId: `lost-${index}` });
    await reader.whole();
    const { status, error } = messagesFrame(reader);
    assert.deepEqual([status, error.code], ['failed', 'attachment_unavailable']);
    assert.equal(
      error.message,
      `\`attachments[1]\` of an earlier message (run ${first.runId}), image/png of ${png.length} bytes, ${says}; attach it again.`,
    );
    assert.equal((await rig.allowance(integration)).used, used, 'it costs nothing');
    const mended = await rig.hold({ ...body, usageRequestId: `again-${index}`, attachments: [imageAttachment(png)] });
    assert.equal(imagesShown(mended.call).flat().length, 3 + index);
    assert.deepEqual(readFileSync(file), png);
    await mended.call.end({ requestCount: 1, inputTokens: 0, cachedTokens: 0, outputTokens: 0, reasoningTokens: 0 });
    await mended.reader.whole();
  }
});

test('an image that cannot be read now fails the run; the same message works later', async (t) => {
  cites(t, 'contract-8-stream-attachment-unavailable');
  await using rig = await ScriptedServer.start();
  const { runId } = await rig.answer({ chatId: 'c', attachments: [imageAttachment(png)] });
  const [path = ''] = blobsIn(rig.server.dataDir);
  const file = join(rig.server.dataDir, 'blobs', path);
  // A folder replaces the file: it can be opened, but not read.
  rmSync(file);
  mkdirSync(file);
  const reader = await rig.api.complete({ chatId: 'c', message: 'And now?' });
  await reader.whole();
  const { error } = messagesFrame(reader);
  assert.deepEqual(error, {
    code: 'attachment_unavailable',
    message:
      `\`attachments[0]\` of an earlier message (run ${runId}), image/png of ${png.length} bytes, cannot be read from the ` +
      'stored files now; send the message again, and if that does not help, attach it again.',
  });
  rmSync(file, { recursive: true });
  writeFileSync(file, png);
  await rig.answer({ chatId: 'c', message: 'And now?' });
});

test('the sample in the docs works as pasted', async (t) => {
  const folder = temporaryFolder();
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  await using server = await startTestServer();
  const page = readFileSync(join(import.meta.dirname, '../docs/images.md'), 'utf8');
  const [, sample = ''] = /```sh\n([\s\S]*?)```/.exec(page) ?? [];
  writeFileSync(join(folder, 'picture.png'), png);
  const { stdout } = await promisify(execFile)('sh', ['-c', sample], {
    cwd: folder,
    env: { PATH: process.env.PATH, URL: server.url, KEY: TEST_API_KEY },
    timeout: 60_000,
  });
  assert.match(stdout, /event: end/);
  assert.ok(stdout.includes(`(1 image came with it: image/png of ${png.length} bytes)`), stdout.slice(-2000));
  const { body } = await server.api.get('/v2/integrations/demo/chats/album/messages');
  const [, shown = ''] = /```json\n(.*)\n```/.exec(page) ?? [];
  const [attachment] = body.items[1].attachments;
  assert.deepEqual(Object.keys(attachment), Object.keys(JSON.parse(shown)));
  const form = /^data:image\/png;sha256=[0-9a-f]{64};bytes=\d+,$/;
  for (const { image_url, detail } of [attachment, JSON.parse(shown)]) {
    assert.match(image_url, form);
    assert.equal(detail, 'low');
  }
});
