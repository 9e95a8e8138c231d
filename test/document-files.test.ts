import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pdfOfPages, startTestServer } from '@runwire/test-kit';
import { documentReader, toText } from '@runwire/test-kit/read-document.ts';
import { REFUSED_SAMPLES, sampleDocument } from '@runwire/test-kit/sample-documents.ts';
import { cites } from '../requirements/cite.ts';
import { upload } from './support/uploads.ts';

const FOLDER = '/app/mnt/u';

test('an agent reads documents with the converter and the limits of attachments', async (t) => {
  cites(t, 'contract-7-read-documents');
  await using reader = documentReader({ pages: 3, characters: 20_000 });
  const env = { RUNWIRE_MAX_ATTACHMENT_PAGES: '3', RUNWIRE_MAX_ATTACHMENT_CHARACTERS: '20000' };
  await using server = await startTestServer({ env });
  const send = (filename: string, bytes: Uint8Array) =>
    upload(server.api, bytes, { folder: FOLDER, filename, contentType: 'application/octet-stream' });
  const ask = async (tool: string, input: object, path = '') => {
    const sandboxFiles = path === '' ? [] : [{ name: path.split('/').at(-1) ?? '', path }];
    const message = `/tool ${tool} ${JSON.stringify(input)}`;
    const stream = await server.api.complete({ chatId: 'c', message, sandboxFiles });
    await stream.whole();
    return stream.answer.replace(/^The tool was called\. It returned: /, '');
  };
  const names = ['filled-form.pdf', 'pandoc.docx', 'openpyxl.xlsx', 'report.html', 'utf8.csv', 'utf16.csv'];
  for (const name of names) {
    const path = await send(name, sampleDocument(name));
    const attached = await toText(reader, sampleDocument(name), { name });
    const [, ...lines] = (await ask('read_file', { path }, path)).split('\n');
    assert.equal(`${lines.join('\n')}\n`, attached, name);
  }
  const table = await send('long.csv', Buffer.from('größe,1,2\n'.repeat(2500)));
  assert.match(
    await ask('read_file', { path: table, first_line: 2000 }, table),
    /:\ngröße,1,2\n\n\[Cut here: [^\n]*\]$/,
  );
  const long = await send('long.pdf', pdfOfPages(5));
  assert.match(
    await ask('read_file', { path: long, first_page: 3 }, long),
    /\[Cut here: pages 1 to 3 of 5 are shown\.\]$/,
  );
  const scan = await send('scanned.pdf', sampleDocument('scanned.pdf'));
  const sentence = await ask('read_file', { path: scan }, scan);
  assert.ok(sentence.startsWith(`${scan} ${REFUSED_SAMPLES['scanned.pdf']}`), sentence);
  assert.match(
    await ask('search_files', { text: 'Page 2 speaks' }),
    /^1 matching line, 8 files .* 1 document could not be read .*\n\/app\/mnt\/u\/long\.pdf:5 \(page 2\): Page 2 speaks\.$/,
  );
});
