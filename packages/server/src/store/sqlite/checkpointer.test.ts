import assert from 'node:assert/strict';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryFolder } from '@runwire/server/testing';
import { Checkpointer } from './checkpointer.ts';

test('a failed checkpoint blocks no writer and is retried', async (t) => {
  const top = temporaryFolder();
  t.after(() => rmSync(top, { recursive: true }));
  const folder = join(top, 'not there yet');
  const failed = Promise.withResolvers<void>();
  let failures = 0;
  await using checkpointer = new Checkpointer(join(folder, 'test.db'), () => {
    failures += 1;
    failed.resolve();
  });
  checkpointer.wrote(8000);
  await failed.promise;
  assert.ok(checkpointer.failure instanceof Error);
  assert.equal(checkpointer.pause, null);
  mkdirSync(folder);
  while (checkpointer.failure !== null) await sleep(20);
  assert.equal(failures, 1, 'it is reported once');
});
