import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { pathInMount, TestFiles } from '@runwire/test-kit/test-files.ts';
import { STORES } from '@runwire/test-kit/test-store.ts';
import { ErasedIds } from '../domain/account/erased-ids.ts';
import { newIntegrationId } from '../domain/ids.ts';
import { newFileBlobKey } from '../storage/blob-store.ts';
import { storedPath } from '../store/queries/files.ts';
import { ThisNode } from '../store/this-node.ts';
import { createLogger } from '../telemetry/logger.ts';
import { FileSweep } from './file-sweep.ts';
import { ownUploadTarget } from './own-upload-target.ts';
import { PendingBlobs } from './pending-blobs.ts';
import { UploadSigning } from './sign-upload.ts';

for (const storeName of STORES) {
  describe(storeName, () => {
    test('the sums of folders heal, and are deleted with their integration', async () => {
      await using rig = await TestFiles.open({ store: storeName });
      const { store, blobs } = rig;
      const ids = new ErasedIds('secret');
      const logger = createLogger('silent');
      const settleUploads = async () => {};
      const target = ownUploadTarget(store, 'secret');
      const signing = new UploadSigning({
        store,
        ids,
        target,
        settleUploads,
        quotas: { mountBytes: 0, memberBytes: 100 },
      });
      const sign = (member: string, sizeBytes: number) => {
        const file = {
          integrationId: newIntegrationId('one'),
          path: pathInMount(`members/${member}/new`),
          contentType: 'text/plain',
          sizeBytes,
        };
        return signing.sign({ ...file, base: 'http://here' });
      };
      const limits = { sweepMs: 3_600_000, unusedBlobMs: 1 };
      const sweep = () => new FileSweep({ store, logger, settleUploads, sweepDrops: async () => 0 }, limits).sweep();
      const folders = () => store.reads.query((db) => db.selectFrom('folder_bytes').select(['folder', 'bytes']));

      await rig.put('one', '/app/mnt/members/ann/file', 'x'.repeat(60));
      for (const member of ['ann', 'bob']) await sign(member, 1);
      if (storeName === 'postgres') {
        // A node of an earlier version moves bytes from one member to another, in one transaction.
        const path = storedPath(pathInMount('members/bob/file'));
        await store.transact('files', (tx) => tx.query((db) => db.updateTable('files').set({ path })));
        await assert.rejects(sign('ann', 50), { code: 'mount_quota_exceeded' });
        await sweep();
        await sign('ann', 50);
        await assert.rejects(sign('bob', 50), { code: 'mount_quota_exceeded' });
      }
      assert.notDeepEqual(await folders(), []);

      // No node with this identity is alive.
      const pending = new PendingBlobs({ store, blobs, ids, node: new ThisNode(), logger });
      await pending.begin(
        [newFileBlobKey()],
        { integrationId: newIntegrationId('one'), consumerId: 'ann', path: null },
        async () => {},
      );
      await store.transact('account', (tx) =>
        tx.query((db) =>
          db.updateTable('integrations').set({ deleted_at: 1 }).where('integration_id', '=', newIntegrationId('one')),
        ),
      );
      await sweep();
      await pending.deleteAbandoned();
      assert.deepEqual(await folders(), []);
      assert.deepEqual(await store.reads.query((db) => db.selectFrom('pending_blobs').select('batch_id')), []);
    });
  });
}
