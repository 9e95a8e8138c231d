import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { imageAttachment, makePng, SAMPLE_IMAGES } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { askStore } from './support/ask-store.ts';
import { AttachmentRig, fileAt, imageAt } from './support/attachment-rig.ts';
import { messagesFrame, refusal } from './support/scripted-server.ts';

const rig = await AttachmentRig.start();
after(() => rig[Symbol.asyncDispose]());

const png = Buffer.from(SAMPLE_IMAGES['image/png'], 'base64');
const GOOD = 'https://files.example.com/a.pdf';

const stored = async () => {
  const [row] = await askStore(
    rig.rig.server.dataDir,
    `select (select count(*) from runs) as runs, (select count(*) from chats) as chats,
      (select count(*) from messages) as messages, (select count(*) from attachments) as attachments`,
  );
  return row;
};

async function refused(attachments: readonly object[], says: RegExp): Promise<void> {
  const before = await stored();
  const { status, admitted, body } = await refusal(await rig.api.complete({ attachments }));
  assert.deepEqual([status, body.code, admitted], [400, 'invalid_request', 'false'], JSON.stringify(attachments));
  assert.match(body.error, says);
  assert.deepEqual(await stored(), before, 'nothing is reserved');
}

/** The caller may name this URL, but the server never dials it: its host resolves to this machine. */
const HERE = 'https://localhost/a.pdf';

async function unavailable(attachments: readonly object[]): Promise<void> {
  const reader = await rig.api.complete({ attachments });
  assert.deepEqual([reader.status, reader.headers['x-agent-run-admitted']], [200, 'true']);
  await reader.whole();
  assert.equal(messagesFrame(reader).error?.code, 'attachment_unavailable', reader.text);
}

test('an invalid URL is refused by its field, and nothing is reserved', async (t) => {
  cites(t, 'contract-7-url-text', 'spec-2.2-file-url', 'spec-2.2-image-url');
  const wrong: [string, RegExp][] = [
    ['http://files.example.com/a.pdf', /must be an https URL/],
    ['ftp://files.example.com/a.pdf', /must be an https URL/],
    ['file:///etc/passwd', /must be an https URL/],
    ['HTTPS:files.example.com/a.pdf', /must be an https URL/],
    ['https://ann:secret@files.example.com/a.pdf', /contains a user name or a password/],
    ['https://ann@files.example.com/a.pdf', /contains a user name or a password/],
    ['https://files.example.com:8443/a.pdf', /has the port 8443/],
    ['https://127.0.0.1/a.pdf', /not on the public internet; .* RUNWIRE_FETCH_ALLOW\.$/],
    ['https://0x7f000001/a.pdf', /not on the public internet/],
    ['https://2130706433/a.pdf', /not on the public internet/],
    ['https://169.254.169.254/latest/meta-data/', /not on the public internet/],
    ['https://[::1]/a.pdf', /not on the public internet/],
    ['https://[::ffff:10.0.0.1]/a.pdf', /not on the public internet/],
    ['https://files.example.com./a.pdf', /ends with a dot/],
    [`https://files.example.com/${'a'.repeat(8192)}`, /at most 8192 characters/],
    [`https://files.example.com/${'a'.repeat(20_000_000)}`, /at most 8192 characters/],
  ];
  for (const [url, says] of wrong) {
    await refused([fileAt(url)], new RegExp(`^\`attachments\\[0\\]\\.file_url\` .*${says.source}`));
    await refused([imageAt(url)], new RegExp(`^\`attachments\\[0\\]\\.image_url\` .*${says.source}`));
  }
  for (const url of [
    'https://files.example.com/a b.pdf',
    ' https://files.example.com/',
    'https:\\\\a.example/',
    'a',
    '',
  ]) {
    await refused([fileAt(GOOD), fileAt(url)], /^`attachments\[1\]\.file_url` must be a URL such as https:/);
    await refused([imageAt(GOOD), imageAt(url)], /^`attachments\[1\]\.image_url` /);
  }
  await refused(
    [fileAt(`data:application/pdf;base64,${'A'.repeat(9000)}`)],
    /file_url` must be an https URL, not a data/,
  );
  await refused([fileAt('data:,')], /file_url` must be an https URL, not a data URL/);
  // Characters outside ASCII become longer when they are encoded.
  await refused([imageAt(`https://files.example.com/${'ü'.repeat(4000)}`)], /must be at most 8192 characters/);
  assert.deepEqual(rig.files.requests, []);
});

test('a host with a refused address is admitted and fails the run', async (t) => {
  cites(t, 'contract-7-url-unavailable');
  await unavailable([fileAt(HERE)]);
  await unavailable([imageAt('https://localhost/a.png')]);
  assert.deepEqual(rig.files.requests, []);
});

test('a file name is one segment by the path rule', async (t) => {
  cites(t, 'contract-7-url-filename', 'spec-2.2-filename');
  for (const filename of [
    '',
    ' ',
    '.',
    '..',
    '․․',
    'a/b.pdf',
    '/a.pdf',
    'a\\b',
    'a\u0000',
    'a\nb',
    '\ufeff',
    'x'.repeat(256),
  ]) {
    await refused([fileAt(GOOD), fileAt(GOOD, { filename })], /^`attachments\[1\]\.filename` must/);
  }
  for (const filename of ['a.pdf', 'ein Bericht (2).pdf', 'x'.repeat(255), 'отчёт.pdf']) {
    await unavailable([fileAt(HERE, { filename })]);
  }
});

test('the failure names the attachment that cannot be read', async () => {
  const url = rig.files.serve('/ways/notes.txt', 'Note.', 'text/plain');
  for (const [wrong, why] of [
    [imageAt(url), 'is not a PNG, JPEG, GIF or WebP image, judged by its content'],
    [fileAt(url, { filename: 'notes.pdf' }), 'should be a PDF, but the server sent text'],
  ] as const) {
    const before = rig.files.asked('/ways/notes.txt').length;
    const reader = await rig.api.complete({ attachments: [fileAt(url), wrong] });
    await reader.whole();
    const { message } = messagesFrame(reader).error;
    assert.ok(message.startsWith(`\`attachments[1]\` of this message, ${url}, ${why}`), message);
    assert.equal(rig.files.asked('/ways/notes.txt').length - before, 1);
  }
});

test('messages list attachments by URL, without query and fragment', async () => {
  const notes = rig.files.serve('/list/notes.txt', 'Note.');
  const picture = rig.files.serve('/list/picture.png', png, 'image/png');
  await rig.rig.answer({
    chatId: 'listed',
    attachments: [
      fileAt(`${notes}?sig=hush#page=2`, { filename: 'Meine Notizen.txt' }),
      fileAt(notes),
      imageAt(`${picture}?sig=hush`, { detail: 'low' }),
      imageAt(picture),
      imageAttachment(makePng(100)),
    ],
  });
  const { body } = await rig.api.get('/v2/integrations/demo/chats/listed/messages');
  const listed = body.items.find(({ role }: { role: string }) => role === 'user').attachments;
  assert.deepEqual(listed.slice(0, 4), [
    { type: 'input_file', file_url: notes, filename: 'Meine Notizen.txt' },
    { type: 'input_file', file_url: notes },
    { type: 'input_image', image_url: picture, detail: 'low' },
    { type: 'input_image', image_url: picture, detail: 'auto' },
  ]);
  assert.match(listed[4].image_url, /^data:image\/png;sha256=[0-9a-f]{64};bytes=\d+,$/);
  assert.ok(!JSON.stringify(body).includes('hush'));
});

test('fresh signatures make the same request, another path does not', async (t) => {
  cites(t, 'contract-4-same-body-attachments');
  const url = rig.files.serve('/again/notes.txt', 'Note.');
  const body = (link: string, more: object = {}) => ({
    chatId: 'again',
    usageRequestId: 'again-1',
    attachments: [fileAt(link)],
    ...more,
  });
  const { runId } = await rig.rig.answer(body(`${url}?sig=1`));
  // Refreshes are not part of the body either, and a replay checks none of them.
  for (const same of [
    body(`${url}?sig=2`),
    body(url),
    body(`${url}?sig=1`, { attachmentUrlRefreshes: { 'https://nobody.example/x': 'https://other.example/y' } }),
  ]) {
    const reader = await rig.api.complete(same);
    assert.deepEqual([reader.headers['x-run-replayed'], reader.headers['x-run-id']], ['true', runId]);
    await reader.whole();
  }
  for (const other of [`${url}x?sig=1`, `${url}?sig=1#2`, `${url}#2?sig=1`]) {
    const { status, body: answer } = await refusal(await rig.api.complete(body(other)));
    assert.deepEqual([status, answer.code], [400, 'usage_request_id_reused'], other);
  }
  assert.equal(rig.files.asked('/again/notes.txt').length, 1);
});
