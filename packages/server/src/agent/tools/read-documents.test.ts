import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { askToRead, fullTest, pdfOfPages, TestFiles } from '@runwire/test-kit';
import { makePdf } from '@runwire/test-kit/large-documents.ts';
import { documentReader, toText } from '@runwire/test-kit/read-document.ts';
import { REFUSED_SAMPLES, SAMPLE_SENTENCES, sampleDocument } from '@runwire/test-kit/sample-documents.ts';
import { SAMPLE_IMAGES } from '@runwire/test-kit/sample-images.ts';
import type { AgentFiles } from '../files-port.ts';
import { READ_LIMITS } from './read-file.ts';

const PDF = 'application/pdf';
const reader = documentReader();
after(() => reader[Symbol.asyncDispose]());

/** Calls the tool until no note tells how to continue, and returns the joined lines. */
async function readAll(files: AgentFiles, path: string, range: (next: number | null) => object): Promise<string> {
  const lines: string[] = [];
  for (let next: number | null = null; ; ) {
    const answer: string = await askToRead(files, path, range(next));
    const [about = '', ...shown] = answer.split('\n');
    assert.ok(about.startsWith(`${path} (`) && about.endsWith(':'), about);
    const more = /^\[There is more: call again with first_(?:line|page) (\d+)\.\]$/.exec(shown.at(-1) ?? '');
    if (more === null) return [...lines, ...shown, ''].join('\n');
    lines.push(...shown.slice(0, -1));
    next = Number(more[1]);
  }
}

fullTest('a document read by lines or by pages has the text of the same attachment', async () => {
  await using stored = await TestFiles.open({ reader });
  const files = stored.seenBy('one');
  for (const name of Object.keys(SAMPLE_SENTENCES)) {
    const path = `/app/mnt/${name}`;
    await stored.put('one', path, sampleDocument(name), 'application/octet-stream');
    const options = { name, contentType: 'application/octet-stream' };
    const attached = await toText(reader, sampleDocument(name), options);
    assert.equal(await readAll(files, path, () => ({})), attached, name);
    assert.equal(await readAll(files, path, (next) => ({ first_line: next ?? 1, lines: 2 })), attached, name);
    if (!name.endsWith('.pdf')) continue;
    assert.equal(await readAll(files, path, (next) => ({ first_page: next ?? 1, pages: 1 })), attached, name);
  }
});

test('a document that cannot be converted gives one sentence with the reason', async () => {
  await using stored = await TestFiles.open({ reader, maxDocumentBytes: 100_000 });
  const files = stored.seenBy('one');
  for (const [name, reason] of Object.entries(REFUSED_SAMPLES)) {
    const path = `/app/mnt/${name}`;
    await stored.put('one', path, sampleDocument(name), 'application/octet-stream');
    const sentence = await askToRead(files, path);
    assert.ok(sentence.startsWith(`${path} ${reason}`) && /^[^\n]*\.$/.test(sentence), sentence);
    assert.equal(await askToRead(files, path), sentence);
  }
  await stored.put('one', '/app/mnt/large.pdf', pdfOfPages(1000), PDF);
  assert.match(
    await askToRead(files, '/app/mnt/large.pdf'),
    /^\/app\/mnt\/large\.pdf has \d+ bytes, and only documents of at most 100000 bytes are converted to text\.$/,
  );
});

test('names the pages, and reads a range of pages or lines', async () => {
  await using stored = await TestFiles.open({ reader });
  const files = stored.seenBy('one');
  const path = '/app/mnt/u/report.pdf';
  const bytes = pdfOfPages(5);
  await stored.put('one', path, bytes, PDF);
  const about = `${path} (${PDF}, ${bytes.length} bytes)`;
  const page = (number: number) => [`[Page ${number}]`, `Page ${number} speaks.`];
  assert.equal(
    await askToRead(files, path, { first_page: 2, pages: 2 }),
    [
      `${about}, pages 2 to 3 of 5, lines 4 to 9:`,
      ...page(2),
      '',
      ...page(3),
      '',
      '[There is more: call again with first_page 4.]',
    ].join('\n'),
  );
  assert.equal(
    await askToRead(files, path, { first_page: 5 }),
    [`${about}, page 5 of 5, lines 13 to 14 of 14:`, ...page(5)].join('\n'),
  );
  assert.match(await askToRead(files, path, { pages: 1 }), /, page 1 of 5, lines 1 to 3:\n\[Page 1\]\n/);
  assert.equal(
    await askToRead(files, path, { first_line: 5, lines: 1 }),
    `${about}, page 2 of 5, line 5:\nPage 2 speaks.\n[There is more: call again with first_line 6.]`,
  );
  assert.equal(await askToRead(files, path, { first_page: 6 }), `${about} has only 5 pages.`);
  assert.equal(await askToRead(files, path, { first_line: 15 }), `${about} has only 14 lines.`);
  await stored.put('one', '/app/mnt/long.pdf', pdfOfPages(600), PDF);
  assert.match(
    await askToRead(files, '/app/mnt/long.pdf', { first_page: 501 }),
    / has only 500 pages that can be read\. \[Cut here: pages 1 to 500 of 600 are shown\.\]$/,
  );
});

test('a page that is longer than an answer is continued by lines', async () => {
  await using stored = await TestFiles.open({ reader });
  const files = stored.seenBy('one');
  // From the top of the page to its end, and again: text outside the page is not read.
  const line = (number: number) => `1 0 0 1 9 ${800 - (number % 75) * 10} Tm (${`line ${number} `.padEnd(90, '.')}) Tj`;
  const text = Array.from({ length: 1000 }, (_, index) => line(index)).join('\n');
  await stored.put('one', '/app/mnt/a.pdf', makePdf([`BT /F1 9 Tf ${text} ET`, 'BT /F1 9 Tf 9 9 Td (end) Tj ET']), PDF);
  const first = await askToRead(files, '/app/mnt/a.pdf', { first_page: 1, pages: 1 });
  assert.ok(first.length < READ_LIMITS.characters + 500);
  const next = Number(/\[There is more: call again with first_line (\d+)\.\]$/.exec(first)?.[1]);
  assert.match(
    await askToRead(files, '/app/mnt/a.pdf', { first_line: next }),
    /, page 1 of 2, lines \d+ to \d+:\nline \d/,
  );
});

test('refuses pages together with lines, and pages of a file without pages', async () => {
  await using stored = await TestFiles.open({ reader });
  const files = stored.seenBy('one');
  await stored.put('one', '/app/mnt/a.txt', 'one');
  await stored.put('one', '/app/mnt/a.docx', sampleDocument('pandoc.docx'));
  for (const lines of [{ first_line: 1 }, { lines: 1 }, { first_character: 1 }]) {
    for (const pages of [{ first_page: 1 }, { pages: 1 }]) {
      assert.match(
        await askToRead(files, '/app/mnt/a.txt', { ...lines, ...pages }),
        /^`first_page` and `pages` cannot be/,
      );
    }
  }
  for (const path of ['/app/mnt/a.txt', '/app/mnt/a.docx']) {
    const sentence = `${path} has no pages: ask for lines, with first_line and lines.`;
    assert.equal(await askToRead(files, path, { first_page: 1 }), sentence);
  }
  assert.match(await askToRead(files, '/app/mnt/a.txt', { first_page: 0 }), /^The arguments are wrong: /);
});

test('describes an image by type, size and pixels, and names the way to see it', async () => {
  await using stored = await TestFiles.open({ reader });
  const files = stored.seenBy('one');
  const see = 'which this tool cannot show; if you have the tool show_file, call it to see the image.';
  for (const [type, base64] of Object.entries(SAMPLE_IMAGES)) {
    const bytes = Buffer.from(base64, 'base64');
    // The sample JPEG has no frame.
    const pixels = type === 'image/jpeg' ? '' : ', 1 × 1 pixels';
    await stored.put('one', '/app/mnt/photo', bytes, 'application/octet-stream');
    assert.equal(
      await askToRead(files, '/app/mnt/photo'),
      `/app/mnt/photo is an image (${type}${pixels}, ${bytes.length} bytes), ${see}`,
    );
  }
});
