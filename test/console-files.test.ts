import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '@runwire/test-kit';
import { parseCsv } from '../packages/console/src/lib/csv.ts';
import { zip } from '../packages/console/src/lib/zip.ts';
import { missingService, PYTHON } from './support/services.ts';

const READ = `
import json, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as archive:
    assert archive.testzip() is None
    print(json.dumps([[i.filename, archive.read(i).decode(), *i.date_time] for i in archive.infolist()]))
`;

test('an archive of files is read by another program', {
  skip: (await missingService('python')) ?? false,
}, async (t) => {
  const modifiedAt = new Date(2030, 1, 28, 13, 45, 58);
  const entries = [
    ['a.txt', 'Hello'],
    ['Größe/ä 😀.txt', 'x'.repeat(100_000)],
    ['empty', ''],
  ] as const;
  const archive = zip(entries.map(([name, text]) => ({ name, bytes: new TextEncoder().encode(text), modifiedAt })));
  const folder = temporaryFolder();
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'a.zip');
  writeFileSync(path, Buffer.from(await archive.arrayBuffer()));
  const read = JSON.parse(execFileSync(PYTHON, ['-c', READ, path], { encoding: 'utf8' }));
  assert.deepEqual(
    read,
    entries.map(([name, text]) => [name, text, 2030, 2, 28, 13, 45, 58]),
  );
});

test('a table is read with its separators, quotes and line breaks', () => {
  assert.deepEqual(parseCsv('a,b\r\n1,"x, ""y""\nz"\n\n2,', 9), [
    ['a', 'b'],
    ['1', 'x, "y"\nz'],
    ['2', ''],
  ]);
  assert.deepEqual(parseCsv('a;b,c;d\n1;2;3', 9), [
    ['a', 'b,c', 'd'],
    ['1', '2', '3'],
  ]);
  assert.deepEqual(parseCsv('a\tb\nc\td\ne\tf', 2), [
    ['a', 'b'],
    ['c', 'd'],
  ]);
  assert.deepEqual(parseCsv('', 9), []);
  assert.deepEqual(parseCsv('"never closed,\n1', 9), [['never closed,\n1']]);
});
