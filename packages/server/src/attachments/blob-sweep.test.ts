import assert from 'node:assert/strict';
import { test } from 'node:test';
import { insertTestForm, pathInMount, TestFiles } from '@runwire/test-kit/test-files.ts';
import { ErasedIds } from '../domain/account/erased-ids.ts';
import { FileSweep } from '../files/file-sweep.ts';
import { PendingBlobs } from '../files/pending-blobs.ts';
import { ThisNode } from '../store/this-node.ts';
import { createLogger } from '../telemetry/logger.ts';
import { BlobSweep } from './blob-sweep.ts';

test('an integration has leftovers after a sweep of its forms or files', async () => {
  await using rig = await TestFiles.open();
  const { store, blobs } = rig;
  const logger = createLogger('silent');
  const pending = new PendingBlobs({ store, blobs, ids: new ErasedIds('secret'), node: new ThisNode(), logger });
  const settings = { sweepMs: 3_600_000, unusedBlobMs: 0 };
  const files = new FileSweep({ store, logger, settleUploads: async () => {}, sweepDrops: async () => 0 }, settings);
  const freed = new BlobSweep({ store, blobs, pending, logger }, settings);
  const leftovers = () =>
    store.reads.query((db) =>
      db.selectFrom('integrations').select(['integration_id', 'leftovers']).orderBy('integration_id'),
    );
  await insertTestForm(store, 'one', pathInMount('members/ann/a'), 1);
  await rig.put('other', '/app/mnt/members/ann/b', 'bytes');
  await store.transact('files', (tx) => tx.query((db) => db.updateTable('files').set({ freed_at: 1 })));
  const found = async () => Object.fromEntries((await leftovers()).map((row) => [row.integration_id, row.leftovers]));
  assert.deepEqual(await found(), { one: 0, other: 0 });
  await files.sweep();
  assert.deepEqual(await found(), { one: 1, other: 0 });
  await freed.sweep();
  assert.deepEqual(await found(), { one: 1, other: 1 });
});
