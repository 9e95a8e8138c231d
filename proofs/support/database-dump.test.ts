import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '@runwire/test-kit';
import { differences, filesIn, imagesIn } from './database-dump.ts';

test('a file that comes, goes or has other bytes is a difference, however deep it lies', (t) => {
  const folder = temporaryFolder();
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const image = join(folder, 'blobs', '0a', 'image');
  mkdirSync(join(folder, 'blobs', '0a'), { recursive: true });
  writeFileSync(image, 'one');
  const before = filesIn(folder);
  assert.equal(imagesIn(before), 1);
  assert.deepEqual(differences(before, filesIn(folder)), []);
  writeFileSync(image, 'two');
  assert.equal(differences(before, filesIn(folder)).length, 2);
  writeFileSync(image, 'one');
  writeFileSync(join(folder, 'blobs', 'late'), '');
  assert.equal(differences(before, filesIn(folder)).length, 1);
  rmSync(join(folder, 'blobs'), { recursive: true });
  assert.deepEqual(differences(before, filesIn(folder)), before);
});
