import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { connect } from 'node:tls';
import { defineAgency, defineAgent, defineTool } from '@runwire/agency';
import {
  FakeProvider,
  FileServer,
  type Network,
  providerEvents,
  SAMPLE_IMAGES,
  sseText,
  startTestServer,
} from '@runwire/test-kit';
import { pino } from 'pino';
import { cites } from '../requirements/cite.ts';
import { AttachmentRig, attachmentsShown, blobsIn, fileAt, imageAt } from './support/attachment-rig.ts';
import { messagesFrame, ScriptedServer } from './support/scripted-server.ts';

const png = Buffer.from(SAMPLE_IMAGES['image/png'], 'base64');
const fixture = (name: string) => readFileSync(new URL(`../packages/documents/src/fixtures/${name}`, import.meta.url));

/** Returns a file's text as the model receives it. */
function shownText(name: string, mediaType: string, text: string): string {
  const mark = hash('sha256', text).slice(0, 16);
  return `[File ${mark}: ${JSON.stringify(name)}, ${mediaType}. Its text follows, up to the line [End of file ${mark}]]\n${text}\n[End of file ${mark}]`;
}

test('an image and a text file by URL reach the model in order, without URLs', async (t) => {
  cites(t, 'spec-1-files-by-url', 'spec-2.2-file-url', 'spec-2.2-image-url', 'spec-2.2-filename');
  await using rig = await AttachmentRig.start();
  const picture = rig.files.serve('/a/picture.png', png, 'image/png');
  const notes = rig.files.serve('/a/notes.txt', 'First.\nSecond.', 'text/plain');
  const { call, reader } = await rig.rig.answer({
    chatId: 'c',
    message: 'Look',
    attachments: [fileAt(`${notes}?key=hush`, { filename: 'my notes.txt' }), imageAt(`${picture}?key=hush`)],
  });
  const text = shownText('my notes.txt', 'text/plain', 'First.\nSecond.');
  const image = { kind: 'image', name: 'picture.png', mediaType: 'image/png', detail: 'auto' };
  assert.deepEqual(attachmentsShown(call), [
    [
      { kind: 'text', name: 'my notes.txt', mediaType: 'text/plain', text },
      { ...image, sizeBytes: png.length, base64: SAMPLE_IMAGES['image/png'] },
    ],
  ]);
  assert.ok(!JSON.stringify(call.request).includes('127.0.0.1'));
  assert.ok(!reader.text.includes('hush'));
  const { headers } = rig.files.requests[0] ?? {};
  assert.deepEqual(
    [headers?.cookie, headers?.authorization, headers?.['accept-encoding']],
    [undefined, undefined, 'identity'],
  );
});

test('a PDF is sent as a file over Responses, as text over Chat', async () => {
  await using files = await FileServer.start();
  using _ = files.trustHere();
  const pdf = fixture('libreoffice.pdf');
  const url = files.serve('/report.pdf', pdf, 'application/pdf');
  for (const api of ['responses', 'chat'] as const) {
    await using provider = await FakeProvider.start();
    const base = { OPENAI_BASE_URL: provider.baseUrl, OPENAI_API_KEY: 'sk-1', RUNWIRE_OPENAI_API: api };
    await using server = await startTestServer({ env: { ...files.env, ...base } });
    const reader = await server.api.complete({ message: 'Read', attachments: [fileAt(url)] });
    const call = await provider.nextCall();
    const body = JSON.stringify(call.body);
    await call.stream(sseText(providerEvents(api, { parts: [{ kind: 'text', deltas: ['Seen'] }] })));
    await reader.whole();
    if (api === 'responses') {
      const part = { type: 'input_file', filename: 'report.pdf' };
      const file_data = `data:application/pdf;base64,${pdf.toString('base64')}`;
      assert.ok(body.includes(JSON.stringify({ ...part, file_data })));
    } else {
      assert.match(body, /\{"type":"text","text":"\[File [0-9a-f]{16}: \\"report\.pdf\\", application\/pdf\. Its text/);
      assert.ok(!body.includes('base64'));
    }
  }
});

test('fetches a URL once that a message names several times', async () => {
  await using rig = await AttachmentRig.start();
  const url = rig.files.serve('/picture.png', png, 'image/png');
  const { call } = await rig.rig.answer({
    message: 'Look',
    attachments: [fileAt(url), imageAt(url), imageAt(url, { detail: 'high' }), fileAt(url, { filename: 'b.png' })],
  });
  const [shown = []] = attachmentsShown(call);
  assert.deepEqual(
    shown.map((one) => [one.kind, one.name, 'base64' in one && one.base64 === SAMPLE_IMAGES['image/png']]),
    [
      ['image', 'picture.png', true],
      ['image', 'picture.png', true],
      ['image', 'picture.png', true],
      ['image', 'b.png', true],
    ],
  );
  assert.equal(rig.files.requests.length, 1);
  assert.equal(blobsIn(rig.rig.server.dataDir).length, 1);
});

test('a file that cannot be fetched or read fails the run, free of charge', async (t) => {
  cites(t, 'contract-7-url-unavailable');
  const lines: string[] = [];
  const logger = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) });
  await using rig = await AttachmentRig.start({ logger });
  const { files } = rig;
  const apiIntegrationId = await rig.rig.metered({ unit: 'runs', limit: 100, period: 'day' });
  files.serve('/old.doc', fixture('old-word.doc'), 'application/msword');
  files.serve('/login.pdf', '<html><body>Log in</body></html>', 'text/html');
  files.serve('/gone.txt', 'Gone', 'text/plain', 410);
  files.redirect('/inside.txt', 'https://169.254.169.254/latest/meta-data');
  files.lie('/cut.txt', Buffer.from('abc'), 10);
  files.gzipped('/zipped.txt', Buffer.from('abc'));
  files.lie('/large.txt', Buffer.from('abc'), 1e9);
  const cases: readonly (readonly [string, RegExp])[] = [
    ['/nothing.txt', /could not be fetched: its server answered 404; attach it again to a new message\.$/],
    ['/gone.txt', /its server answered 410; attach it again/],
    ['/inside.txt', /its server redirects to an address that is not allowed; use a link [^;]+ RUNWIRE_FETCH_ALLOW\.$/],
    ['/zipped.txt', /sent it compressed, although the request excluded that; switch off `Content-Encoding` for it\.$/],
    ['/large.txt', /it is larger than \d+ bytes; attach a smaller one\.$/],
    ['/cut.txt', /closed the connection before the end of its answer; attach it again to a new message\.$/],
    ['/old.doc', /, is (an old|in the old|a Word)[^;]+; [^;]+\.$/],
    ['/login.pdf', /, should be [^;]+; check that the link leads to the file itself\.$/],
  ];
  for (const [path, says] of cases) {
    const attachments = [imageAt(files.serve('/a.png', png)), fileAt(`${files.url(path)}?key=hush#part`)];
    const usageRequestId = `request-${path}`;
    const body = { apiIntegrationId, consumerId: 'ann', usageRequestId, message: 'Read', attachments };
    const reader = await rig.api.complete(body);
    await reader.whole();
    const { body: run } = await rig.api.get(`/v2/integrations/${apiIntegrationId}/runs/${reader.headers['x-run-id']}`);
    assert.deepEqual([run.status, run.error.code], ['failed', 'attachment_unavailable'], path);
    const begins = `\`attachments[1]\` of this message, ${files.url(path)}, `;
    assert.equal(run.error.message.slice(0, begins.length), begins);
    assert.match(run.error.message, says);
    assert.ok(!reader.text.includes('hush') && !JSON.stringify(run).includes('hush'));
  }
  assert.equal((await rig.rig.allowance(apiIntegrationId)).used, 0);
  const logged = lines.filter((line) => line.includes('attachment could not be fetched or read'));
  assert.equal(logged.length, cases.length);
  assert.ok(logged.every((line, place) => line.includes(files.url(cases[place]?.[0] ?? 'none'))));
  assert.ok(!lines.join('').includes('hush'), 'no query is in the log');
  assert.equal(rig.rig.controller.calls.length, 0);
  assert.equal(rig.rig.server.server.probes.attachmentsBytes(), 0);
});

test('the offline model names its files and quotes the start of a text', async () => {
  await using files = await FileServer.start();
  using _ = files.trustHere();
  await using server = await startTestServer({ env: files.env });
  const notes = fileAt(files.serve('/notes.txt', 'Bread and butter\nMilk', 'text/plain'));
  const reader = await server.api.complete({ message: 'Hello', attachments: [notes, imageAt(files.serve('/a', png))] });
  await reader.whole();
  assert.match(
    reader.answer,
    /You said: Hello \(1 image came with it: image\/png of \d+ bytes\) \(1 file came with it: notes\.txt, text\/plain of 21 characters, which begins: Bread and butter\)$/,
  );
});

test('tools get the texts of attached files, and no bytes', async () => {
  const handed: unknown[] = [];
  const look = defineTool({
    name: 'look',
    description: 'Looks.',
    inputSchema: { type: 'object' },
    execute: (_input, call) => void handed.push(call.messages),
  });
  const agent = defineAgent({ name: 'A', description: 'Looks.', instructions: 'Look.', files: false, tools: [look] });
  await using rig = await AttachmentRig.start({ agencies: { own: defineAgency({ name: 'Own', agents: [agent] }) } });
  const apiIntegrationId = await rig.rig.integration({ agency: 'own' });
  const attachments = [
    imageAt(rig.files.serve('/a.png', png, 'image/png')),
    fileAt(rig.files.serve('/notes.txt', 'Milk.', 'text/plain')),
  ];
  const { call, reader } = await rig.rig.hold({ apiIntegrationId, message: 'Look', attachments });
  await call.toolCall('call_1', 'look', '{}');
  await call.end();
  await (await rig.rig.controller.nextCall()).end();
  await reader.whole();
  const text = shownText('notes.txt', 'text/plain', 'Milk.');
  const content = [
    { type: 'text', text: 'Look' },
    { type: 'text', text },
  ];
  assert.deepEqual(handed, [[{ role: 'user', content }]]);
});

test('a host with a private address fails the run, and is not dialled', async () => {
  await using files = await FileServer.start();
  files.serve('/notes.txt', 'Milk.', 'text/plain');
  const dialled: string[] = [];
  const network: Network = {
    resolve: async (hostname) => (hostname === 'files.example.com' ? ['93.184.216.34'] : ['93.184.216.34', '10.0.0.7']),
    dial: ({ address, port, servername }) => {
      dialled.push(`${address} ${port} ${servername}`);
      const socket = connect({ host: '127.0.0.1', port: files.port, servername, ca: files.ca });
      return new Promise((resolve, reject) =>
        socket.once('secureConnect', () => resolve(socket)).once('error', reject),
      );
    },
  };
  await using rig = await ScriptedServer.start({ network });
  const attach = (host: string) => ({ message: 'Read', attachments: [fileAt(`https://${host}/notes.txt`)] });
  const { call } = await rig.answer(attach('files.example.com'));
  assert.match(JSON.stringify(attachmentsShown(call)), /Milk\./);
  const reader = await rig.api.complete(attach('inside.example.com'));
  await reader.whole();
  const { error } = messagesFrame(reader);
  assert.equal(error.code, 'attachment_unavailable');
  assert.match(
    error.message,
    /inside\.example\.com\/notes\.txt, could not be fetched: its host has an address that is not/,
  );
  assert.deepEqual(dialled, ['93.184.216.34 443 files.example.com']);
});
