import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { beforeEach, describe, test } from 'node:test';
import { type AgentTool, defineAgency, defineAgent } from '@runwire/agency';
import { type ModelCall, type ShownImage, STORES, type StoreName } from '@runwire/test-kit';
import { makeOnePixelPng, SAMPLE_IMAGES } from '@runwire/test-kit/sample-images.ts';
import { jsonSchema, tool } from 'ai';
import { cites } from '../requirements/cite.ts';
import { askStore } from './support/ask-store.ts';
import { blobsIn } from './support/attachment-rig.ts';
import { listSamples } from './support/doc-samples.ts';
import { eventually } from './support/eventually.ts';
import { calls, play, say } from './support/play.ts';
import { messagesFrame, ScriptedServer } from './support/scripted-server.ts';
import { at, upload } from './support/uploads.ts';

const NEVER_MS = 3_600_000;

type Part = { readonly type: string; readonly [field: string]: unknown };

/** What the tool `look` returns. */
let parts: readonly Part[] = [];

const look: AgentTool = tool({
  description: 'Looks.',
  inputSchema: jsonSchema({ type: 'object' }),
  execute: () => 'seen',
  toModelOutput: () => ({ type: 'content', value: parts as never }),
});

const agent = (name: string, more: object = {}) =>
  defineAgent({ name, description: `${name} is asked.`, instructions: `You are ${name}.`, ...more });

const eyes = defineAgency({
  name: 'Eyes',
  agents: [
    agent('Lead', { files: false, tools: { look } }),
    agent('Reader', { files: { below: 'members/{{member.consumerId}}' } }),
  ],
});

const sample = (type: keyof typeof SAMPLE_IMAGES) => Buffer.from(SAMPLE_IMAGES[type], 'base64');
const text = (value: string): Part => ({ type: 'text', text: value });
const fileV7 = (bytes: Buffer, mediaType = 'image/png'): Part => ({
  type: 'file',
  mediaType,
  data: { type: 'data', data: bytes },
});

/** The start of the hash: a difference of long texts is no help. */
const digest = (base64 = '') => hash('sha256', Buffer.from(base64, 'base64')).slice(0, 12);

const shownImages = (call: ModelCall | undefined): readonly (readonly ShownImage[])[] =>
  call?.request.prompt.flatMap((item) =>
    item.kind === 'tool_output' ? [(item.images ?? []) as unknown as readonly ShownImage[]] : [],
  ) ?? [];
const outputTexts = (call: ModelCall | undefined) =>
  call?.request.prompt.flatMap((item) => (item.kind === 'tool_output' ? [item.output] : [])) ?? [];

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  const rig = ScriptedServer.shared({
    store,
    agencies: { eyes },
    limits: { unusedBlobMs: 0, sweepMs: NEVER_MS, eraseRewriteMs: 0 },
  });
  let integration = '';
  let below = '';
  beforeEach(async () => {
    integration = await rig.integration({ agency: 'eyes', fileAccess: 'all' });
    below = `/v2/integrations/${integration}`;
  });

  const post = async (body: object = {}) => {
    const reader = await rig.api.complete({ apiIntegrationId: integration, chatId: 'c', message: 'Go.', ...body });
    assert.equal(reader.status, 200, reader.text);
    await reader.whole();
    return { runId: String(reader.headers['x-run-id']), reader, ...messagesFrame(reader) };
  };
  /** A run in which the tool returns these parts, and what the model was shown after the call. */
  const lookAt = async (shown: readonly Part[], body: object = {}) => {
    parts = shown;
    const made = play(rig, { Lead: [calls(['call_1', 'look', {}]), say('Seen.')] });
    const before = made.length;
    const run = await post(body);
    return { ...run, call: made[before + 1] };
  };
  const again = async (body: object = {}) => {
    const made = play(rig, { Lead: [say('Yes.')] });
    const before = made.length;
    const run = await post({ message: 'And?', ...body });
    return { ...run, call: made[before] };
  };
  const rows = (where = '') =>
    askStore(
      rig.server.dataDir,
      `select t.run_id, t.attachment_id, t.blob_key from tool_images t join chats c on c.chat_key = t.chat_key
        where c.integration_id = '${integration}' ${where}`,
    );
  const sweep = () => rig.server.server.probes.sweepBlobs();

  test('images from a tool reach the model, readers and later turns', async (t) => {
    cites(
      t,
      'contract-30-from-tools',
      'contract-30-later',
      'contract-30-attachments',
      'contract-30-read',
      'contract-3-run-attachment',
    );
    const png = makeOnePixelPng(5000, 7);
    const run = await lookAt([text('Two:'), fileV7(png), { type: 'image-data', data: SAMPLE_IMAGES['image/webp'] }]);
    const expected = [
      ['image/png', digest(png.toString('base64'))],
      ['image/webp', digest(SAMPLE_IMAGES['image/webp'])],
    ];
    const [images = []] = shownImages(run.call);
    assert.deepEqual(
      images.map(({ mediaType, base64 }) => [mediaType, digest(base64)]),
      expected,
    );
    assert.deepEqual(outputTexts(run.call), ['Two:']);
    const item = run.new_messages.find(({ type }: { type: string }) => type === 'function_call_output');
    const attachments = item.attachments;
    assert.deepEqual(
      attachments.map(({ mediaType, size }: { mediaType: string; size: number }) => [mediaType, size]),
      [
        ['image/png', 5000],
        ['image/webp', sample('image/webp').length],
      ],
    );
    const frame = run.reader.frames.find(({ data }: { data: string }) => data.includes('"name":"tool_output"'));
    const streamed = JSON.parse(frame?.data ?? '{}').data.item;
    assert.deepEqual([streamed.attachments, streamed.raw_item.attachments], [attachments, attachments]);
    assert.ok(!run.reader.text.includes('blobKey'));
    const { items } = (await rig.api.get(`${below}/runs/${run.runId}/steps`)).body;
    assert.deepEqual(
      items.map((step: { attachments: unknown }) => step.attachments),
      [[], attachments, []],
    );
    const [first] = attachments;
    const [documented] = JSON.parse(listSamples('docs/tool-images.md', 'json')[0] ?? '[]');
    assert.deepEqual(Object.keys(documented), Object.keys(first));
    const path = `${below}/runs/${run.runId}/attachments/${first.attachmentId}`;
    const answer = await fetch(`${rig.server.url}${path}`, { headers: rig.api.authorization });
    assert.ok(Buffer.from(await answer.arrayBuffer()).equals(png));
    const headers = ['content-type', 'content-length', 'x-content-type-options', 'content-security-policy'];
    assert.deepEqual(
      headers.map((name) => answer.headers.get(name)),
      ['image/png', '5000', 'nosniff', 'sandbox'],
    );
    assert.match(answer.headers.get('content-disposition') ?? '', /^attachment; filename="att_\w+\.png"/);

    const next = await again();
    const known = run.call?.request.prompt ?? [];
    assert.equal(JSON.stringify(next.call?.request.prompt.slice(0, known.length)), JSON.stringify(known));
    const { messages } = (await rig.api.get(`${below}/runs/${run.runId}/steps/3/prompt`)).body;
    assert.deepEqual(messages.at(-1).attachments, [
      { kind: 'image', mediaType: 'image/png', size: 5000 },
      { kind: 'image', mediaType: 'image/webp', size: sample('image/webp').length },
    ]);
    await again({ chatId: 'other' });
  });

  test('reads parts from every AI SDK version, and names what is no image', async (t) => {
    cites(t, 'contract-30-type');
    const gif = SAMPLE_IMAGES['image/gif'];
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
    const run = await lookAt([
      { type: 'media', data: gif, mediaType: 'image/png' },
      { type: 'file-data', data: SAMPLE_IMAGES['image/jpeg'], mediaType: 'application/octet-stream' },
      fileV7(sample('image/png'), 'image'),
      fileV7(svg, 'image/svg+xml'),
      fileV7(svg, 'image/png'),
      { type: 'file-data', data: 'JVBERi0=', mediaType: 'application/pdf' },
      { type: 'image-url', url: 'https://example.com/a.png' },
      { type: 'file', mediaType: 'image/png', data: { type: 'url', url: 'https://example.com/a.png' } },
      text('End'),
    ]);
    const [images = []] = shownImages(run.call);
    assert.deepEqual(
      images.map(({ mediaType }) => mediaType),
      ['image/gif', 'image/jpeg', 'image/png'],
    );
    const [output = ''] = outputTexts(run.call);
    assert.deepEqual(output.split('\n'), [
      '[a part of type file-data that cannot be shown]',
      '[a part of type image-url that cannot be shown]',
      '[a part of type file that cannot be shown]',
      'End',
      `[image, image/svg+xml, ${svg.length} bytes: it is no PNG, JPEG, GIF or WebP image]`,
      `[image, image/png, ${svg.length} bytes: it is no PNG, JPEG, GIF or WebP image]`,
    ]);
    const huge = Buffer.from(sample('image/png'));
    huge.writeUInt32BE(60_000, 16);
    const bomb = await lookAt([fileV7(huge)], { chatId: 'bomb' });
    assert.deepEqual(shownImages(bomb.call), [[]]);
    assert.match(outputTexts(bomb.call).join(), /60000 × 1 pixels are too many; at most 8000 per side\]$/);
  });

  test('a result shows at most 8 images', async (t) => {
    cites(t, 'contract-30-limits');
    const nine = Array.from({ length: 9 }, (_, n) => fileV7(makeOnePixelPng(100 + n, n)));
    const run = await lookAt(nine);
    assert.equal(shownImages(run.call)[0]?.length, 8);
    assert.deepEqual(outputTexts(run.call), [
      '[image, image/png, 108 bytes: a result shows at most 8 images of 20 MiB together]',
    ]);
  });

  test('no other run, integration or member reads an image', async (t) => {
    cites(t, 'contract-30-read-own', 'contract-8-404-attachment-not-found');
    for (const name of ['ann', 'bob']) await rig.member(integration, name);
    const { runId, new_messages: items } = await lookAt([fileV7(makeOnePixelPng(300, 3))], { consumerId: 'ann' });
    const [{ attachmentId }] = items.find(({ type }: { type: string }) => type === 'function_call_output').attachments;
    const other = await lookAt([fileV7(makeOnePixelPng(300, 3))], { consumerId: 'bob', chatId: 'd' });
    const path = (run: string, id = attachmentId) => `${below}/runs/${run}/attachments/${id}`;
    assert.deepEqual((await rig.api.get(path(other.runId))).body.code, 'attachment_not_found');
    assert.deepEqual((await rig.api.get(path(runId, 'att_none'))).status, 404);
    const foreign = await rig.integration({ agency: 'eyes' });
    assert.equal((await rig.api.get(path(runId).replace(integration, foreign))).body.code, 'run_not_found');
    const token = async (consumerId: string, can: readonly string[]) => {
      const { body } = await rig.api.post(`${below}/client_tokens`, { consumerId, can });
      return rig.api.as(body.clientToken).get(path(runId));
    };
    assert.equal((await token('ann', ['read'])).status, 200);
    assert.equal((await token('bob', ['read'])).body.code, 'run_not_found');
    assert.equal((await token('ann', ['run'])).body.code, 'token_forbidden');
  });

  test("images are deleted with their run's steps, and a fork keeps them", async (t) => {
    cites(t, 'contract-30-deleted', 'contract-30-forks');
    const png = makeOnePixelPng(700, 11);
    const run = await lookAt([fileV7(png)]);
    const before = blobsIn(rig.server.dataDir).length;
    const fork = await rig.api.post(`${below}/chats/c/fork`, { chatId: 'f' });
    assert.equal(fork.status, 201);
    assert.equal((await rig.api.delete(`${below}/chats/c`)).status, 204);
    await sweep();
    assert.deepEqual([(await rows()).length, blobsIn(rig.server.dataDir).length], [1, before]);
    const next = await again({ chatId: 'f' });
    assert.equal(digest(shownImages(next.call)[0]?.[0]?.base64), digest(png.toString('base64')));
    const [{ attachmentId }] = run.new_messages.find(
      ({ type }: { type: string }) => type === 'function_call_output',
    ).attachments;
    const path = `${below}/runs/${run.runId}/attachments/${attachmentId}`;
    assert.equal((await rig.api.get(path)).status, 200);
    assert.equal((await rig.api.delete(`${below}/chats/f`)).status, 204);
    assert.deepEqual(await rows(), []);
    await sweep();
    assert.equal(blobsIn(rig.server.dataDir).length, before - 1);
    assert.equal((await rig.api.get(path)).body.code, 'chat_not_found');
  });

  test('images in a deleted integration are deleted, and its chats keep their texts', async () => {
    await lookAt([fileV7(makeOnePixelPng(800, 12))]);
    const before = blobsIn(rig.server.dataDir).length;
    assert.equal((await rig.api.delete(below)).status, 204);
    await sweep();
    await sweep();
    assert.deepEqual([(await rows()).length, blobsIn(rig.server.dataDir).length], [0, before - 1]);
  });

  test('an erasure deletes images, and leaves equal ones to other members', async () => {
    for (const name of ['ann', 'bob']) await rig.member(integration, name);
    const png = makeOnePixelPng(900, 13);
    await lookAt([fileV7(png)], { consumerId: 'ann' });
    await lookAt([fileV7(png)], { consumerId: 'bob', chatId: 'd' });
    const before = blobsIn(rig.server.dataDir).length;
    const erase = async (name: string) => {
      await rig.api.delete(`${below}/members/${name}?erase=true`);
      await eventually(`${name} is erased`, async () => {
        const { body } = await rig.api.get(`${below}/members/${name}/erasure`);
        return body.status === 'erased';
      });
    };
    await erase('ann');
    assert.deepEqual([(await rows()).length, blobsIn(rig.server.dataDir).length], [1, before]);
    await erase('bob');
    assert.deepEqual([(await rows()).length, blobsIn(rig.server.dataDir).length], [0, before - 1]);
  });

  test('a rerun keeps the images in kept steps and recorded outcomes', async (t) => {
    cites(t, 'contract-30-reruns');
    const png = makeOnePixelPng(600, 14);
    const { runId } = await lookAt([fileV7(png)]);
    parts = [text('not called')];
    for (const afterStep of [0, 2]) {
      const made = play(rig, {
        Lead: afterStep === 0 ? [calls(['call_9', 'look', {}]), say('Again.')] : [say('Again.')],
      });
      const before = made.length;
      const answer = await rig.api.rerun(integration, runId, { afterStep, keep: true });
      await answer.whole();
      const last = made.slice(before).at(-1);
      assert.equal(
        digest(shownImages(last)[0]?.[0]?.base64),
        digest(png.toString('base64')),
        `after step ${afterStep}`,
      );
    }
    assert.equal((await rows()).length, 3);
    await rig.api.delete(`${below}/chats/c`);
    await sweep();
    assert.equal((await rows()).length, 2);
    const [{ run_id: rerun, attachment_id: id } = { run_id: '', attachment_id: '' }] = await rows();
    assert.equal((await rig.api.get(`${below}/runs/${rerun}/attachments/${id}`)).status, 200);
  });

  test('compatible APIs name images in brackets', async (t) => {
    cites(t, 'contract-30-compatible');
    parts = [text('One:'), fileV7(makeOnePixelPng(500, 18))];
    const shown = 'One:\n[image, image/png, 500 bytes]';
    const ask = async (path: string, body: object) => {
      play(rig, { Lead: [calls(['call_1', 'look', {}]), say('Seen.')] });
      const answer = await fetch(`${rig.server.url}${below}${path}`, {
        method: 'POST',
        headers: { ...rig.api.authorization, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      const sent = await answer.text();
      assert.equal(answer.status, 200, sent);
      return sent;
    };
    const { output } = JSON.parse(await ask('/openai/v1/responses', { input: 'Go.' }));
    assert.deepEqual(
      output.flatMap((item: { type: string; output?: string }) => (item.type === 'mcp_call' ? [item.output] : [])),
      [shown],
    );
    const message = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Go.' }] };
    const ui = await ask('/ai-sdk/chat', { id: 'ui', messages: [message], trigger: 'submit-message' });
    assert.ok(ui.includes(`"output":${JSON.stringify(shown)}`), ui);
    const run = { threadId: 't', runId: 'r', state: {}, messages: [{ id: 'm1', role: 'user', content: 'Go.' }] };
    const agUi = await ask('/ag-ui', { ...run, tools: [], context: [], forwardedProps: {} });
    assert.ok(agUi.includes(`"content":${JSON.stringify(shown)}`), agUi);
  });

  test('images are deleted if a node of an earlier version deletes the steps', async () => {
    const first = await lookAt([fileV7(makeOnePixelPng(450, 19))]);
    await lookAt([fileV7(makeOnePixelPng(450, 19))], { chatId: 'other' });
    const [row] = await rows();
    const unused = async () => {
      const [blob] = await askStore(
        rig.server.dataDir,
        `select unused_since from blobs where blob_key = '${row?.blob_key}'`,
      );
      return blob?.unused_since !== null;
    };
    const remove = (where: string) =>
      askStore(rig.server.dataDir, `delete from steps where kind = 'tool' and run_id in (${where})`);
    await remove(`'${first.runId}'`);
    assert.deepEqual([(await rows()).length, await unused()], [1, false]);
    const [left] = await rows();
    await remove(`'${left?.run_id}'`);
    assert.deepEqual([(await rows()).length, await unused()], [0, true]);
  });

  test("later turns name a failed turn's images", async (t) => {
    cites(t, 'contract-30-failed-turn');
    parts = [fileV7(makeOnePixelPng(400, 15))];
    play(rig, {
      Lead: [calls(['call_1', 'look', {}]), (call) => call.fail('model_error', 'The image was refused.')],
    });
    const run = await post();
    assert.equal(run.status, 'failed');
    const next = await again();
    assert.deepEqual(shownImages(next.call), [[]]);
    assert.deepEqual(outputTexts(next.call), ['[image, image/png, 400 bytes]']);
  });

  test('show_file shows an image that the run may see', async (t) => {
    cites(t, 'contract-30-from-files');
    for (const name of ['ann', 'bob']) await rig.member(integration, name);
    const png = makeOnePixelPng(2000, 16);
    const put = (path: string, bytes: Buffer | string, contentType: string) =>
      upload(rig.api, bytes, { apiIntegrationId: integration, ...at(path), contentType });
    await put('/app/mnt/members/ann/a.png', png, 'text/plain');
    await put('/app/mnt/members/ann/b.png', 'no image', 'image/png');
    await put('/app/mnt/members/bob/a.png', png, 'image/png');
    const show = (id: string, path: string) => [id, 'show_file', { path }] as const;
    const made = play(rig, {
      Reader: [
        calls(
          show('c1', '/app/mnt/members/ann/a.png'),
          show('c2', '/app/mnt/members/ann/b.png'),
          show('c3', '/app/mnt/members/bob/a.png'),
          show('c4', '/app/mnt/members/ann/../bob/a.png'),
          show('c5', '/etc/passwd'),
        ),
        say('Seen.'),
      ],
    });
    const before = made.length;
    await post({ consumerId: 'ann', agent: 'Reader' });
    const call = made[before + 1];
    assert.deepEqual(
      shownImages(call).map((images) => images.map(({ base64 }) => digest(base64))),
      [[digest(png.toString('base64'))], [], [], [], []],
    );
    const outputs = outputTexts(call);
    assert.equal(outputs[0], '/app/mnt/members/ann/a.png');
    assert.match(
      outputs[1] ?? '',
      /^\/app\/mnt\/members\/ann\/b\.png is no image: it is image\/png, and this tool shows/,
    );
    assert.equal(outputs[2], 'There is no file /app/mnt/members/bob/a.png.');
    assert.match(outputs[3] ?? '', /^`path` /);
    assert.match(outputs[4] ?? '', /^`path` /);
  });
}
