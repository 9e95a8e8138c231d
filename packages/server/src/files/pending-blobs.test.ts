import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { insertTestForm, pathInMount, TestFiles } from '@runwire/test-kit/test-files.ts';
import { STORES, type StoreName } from '@runwire/test-kit/test-store.ts';
import { ErasedIds } from '../domain/account/erased-ids.ts';
import { memberFolder } from '../domain/file/file-access.ts';
import { newId, newIntegrationId } from '../domain/ids.ts';
import { StoreUnavailable } from '../domain/unavailable.ts';
import { type BlobStore, newFileBlobKey } from '../storage/blob-store.ts';
import {
  beginErasure,
  closeForms,
  erasuresOfFolders,
  markDeleted,
  markReplaced,
  oldErasures,
  refusedPerson,
  tagPersonsPending,
  unfinishedErasures,
} from '../store/queries/erasures.ts';
import { insertFiles, jsonRows, type NewFileRow } from '../store/queries/file-batches.ts';
import { rangeBelow, storedPath } from '../store/queries/files.ts';
import { insertNode } from '../store/queries/nodes.ts';
import { abandonPending } from '../store/queries/pending-blobs.ts';
import type { Statement } from '../store/statement.ts';
import type { Store } from '../store/store.ts';
import { ThisNode } from '../store/this-node.ts';
import { createLogger } from '../telemetry/logger.ts';
import { uncachedOutbox } from '../webhooks/event-outbox.ts';
import { FormClosed } from './closed-folders.ts';
import { Files } from './files.ts';
import { ownUploadTarget } from './own-upload-target.ts';
import { BlobGone, claimBlobs, type PendingBatch, PendingBlobs } from './pending-blobs.ts';
import { UploadSigning } from './sign-upload.ts';

const INTEGRATION = newIntegrationId('one');
const PERSON = 'ann';
const ids = new ErasedIds('secret');
const erasedId = ids.consumer(INTEGRATION, PERSON);
const FOLDER = memberFolder('/app/mnt/members/{consumerId}', PERSON);
const anyone = async () => {};

for (const store of STORES) describe(store, () => tests(store));

async function open(storeName: StoreName) {
  const files = await TestFiles.open({ store: storeName });
  const { store, blobs } = files;
  const node = new ThisNode();
  const identity = { nodeId: newId('node'), boot: 'b' };
  node.registered(identity);
  await store.transact('account', (tx) =>
    tx.run(insertNode, { node_id: identity.nodeId, boot: 'b', version: '1', started_at: 1, host: 'h', address: null }),
  );
  const logger = createLogger('silent');
  const pendingOn = (onStore: Store, onBlobs: BlobStore) =>
    new PendingBlobs({ store: onStore, blobs: onBlobs, ids, node, logger });
  const pending = pendingOn(store, blobs);
  const uploads = new Files({ store, blobs, pending, settleUploads: async () => {}, outbox: uncachedOutbox(), logger });
  const owner = { integrationId: INTEGRATION, consumerId: PERSON, path: null };
  const begin = async () => {
    const batch = await pending.begin([newFileBlobKey()], owner, anyone);
    await blobs.put(batch.keys[0] ?? '', Buffer.from('bytes'));
    return batch;
  };
  const isStored = async ({ keys }: { readonly keys: readonly string[] }) => (await blobs.read(keys[0] ?? '')) !== null;
  const erase = (statements: readonly ('begin' | 'replace' | 'delete')[]) =>
    store.transact('erasure', async (tx) => {
      const person = { integrationId: INTEGRATION, erasedId };
      const range = { ...person, ...rangeBelow(FOLDER) };
      for (const statement of statements) {
        if (statement === 'begin') {
          await tx.run(beginErasure, { ...person, consumerId: PERSON, startedAt: 5, hasContent: 1 });
        } else if (statement === 'replace') {
          await tx.run(tagPersonsPending, range);
          await tx.run(closeForms, range);
          const folderId = ids.folder(INTEGRATION, FOLDER);
          await tx.run(markReplaced, { ...person, folderId, content: 1, now: 6 });
        } else await tx.run(markDeleted, { ...person, startedAt: 5 });
      }
    });
  return {
    files,
    store,
    blobs,
    node,
    pending,
    pendingOn,
    uploads,
    begin,
    isStored,
    erase,
    person: { integrationId: INTEGRATION, erasedId },
  };
}

function tests(storeName: StoreName): void {
  test('deletes abandoned blobs, and none that a transaction refers to', async () => {
    const rig = await open(storeName);
    await using _ = rig.files;
    const { store, pending } = rig;
    const [refused, used] = [await rig.begin(), await rig.begin()];
    const row: NewFileRow = {
      ...{ path: storedPath(pathInMount('a.txt')), blob: used.keys[0] ?? '', size: 5, etag: '"x"', type: 'text/plain' },
      ...{ modified: 1, signed: null, chat: null },
    };
    await store.transact('files', async (tx) => {
      await claimBlobs(tx, used);
      await tx.run(insertFiles, { integrationId: INTEGRATION, files: jsonRows([row]) });
    });
    assert.equal(await pending.isClear(rig.person), false);
    // The caller does not know whether its transaction has committed.
    for (const batch of [refused, used]) await pending.abandon(batch);
    assert.deepEqual([await rig.isStored(refused), await rig.isStored(used)], [false, true]);
    assert.equal(await pending.isClear(rig.person), true);
    const claim = (batch: PendingBatch) => store.transact('files', (tx) => claimBlobs(tx, batch));
    await assert.rejects(claim(refused), BlobGone);
    // The bytes are not deleted yet, and no transaction may refer to them any more.
    const marked = await rig.begin();
    await store.transact('pending', (tx) => tx.run(abandonPending, marked));
    await assert.rejects(claim(marked), BlobGone);
  });

  test('deletes what a dead node left, and a node that was only slow deletes its own', async () => {
    const rig = await open(storeName);
    await using _ = rig.files;
    const left = await rig.begin();
    assert.equal(await rig.pending.deleteAbandoned(), 0, 'its node is alive');
    await rig.store.transact('account', (tx) => tx.query((db) => db.updateTable('nodes').set({ dead: 1 })));
    assert.equal(await rig.pending.deleteAbandoned(), 1);
    assert.equal(await rig.isStored(left), false);
    assert.equal(await rig.pending.isClear(rig.person), true);
    // The node continues, because it was only slow: it still deletes its bytes.
    await rig.blobs.put(left.keys[0] ?? '', Buffer.from('bytes'));
    await rig.pending.abandon(left);
    assert.equal(await rig.isStored(left), false);
  });

  test('refuses an upload whose form an erasure has closed', async () => {
    const rig = await open(storeName);
    await using _ = rig.files;
    const { uploads, store } = rig;
    const form = await insertTestForm(store, INTEGRATION, pathInMount(`${FOLDER}/a.txt`));
    const upload = (bytes: AsyncIterable<Uint8Array>) =>
      uploads.upload(INTEGRATION, { ...form, contentType: 'text/plain' }, bytes);
    const erasing = async function* () {
      yield Buffer.from('bytes');
      await rig.erase(['begin', 'replace']);
      assert.equal(await rig.pending.isClear(rig.person), false, 'the erasure waits for the upload');
    };
    await assert.rejects(upload(erasing()), FormClosed);
    assert.equal(await rig.pending.isClear(rig.person), true);
    assert.deepEqual(await Array.fromAsync(rig.blobs.list()), []);
    await assert.rejects(upload(erasing()), FormClosed);
  });

  test('signs no form for a folder that is erased while it signs', async () => {
    const rig = await open(storeName);
    await using _ = rig.files;
    const { store } = rig;
    const during: (() => Promise<unknown>)[] = [];
    const target = ownUploadTarget(store, 'secret');
    const settleUploads = async () => void (await during.shift()?.());
    const signing = new UploadSigning({ store, ids, target, settleUploads, quotas: { mountBytes: 0, memberBytes: 0 } });
    const sign = (folder = FOLDER) => {
      const file = {
        integrationId: INTEGRATION,
        path: pathInMount(`${folder}/a.txt`),
        contentType: 'text/plain',
        sizeBytes: 1,
      };
      return signing.sign({ ...file, base: 'http://here' });
    };
    const refused = { code: 'erasure_running' };
    during.push(() => rig.erase(['begin']));
    await assert.rejects(sign(), refused, 'begun while it signs');
    await assert.rejects(sign(), refused, 'the id is refused');
    await rig.erase(['replace']);
    await assert.rejects(sign(), refused, 'the files are being deleted');
    await sign(memberFolder('/app/mnt/members/{consumerId}', 'ben'));
    await rig.erase(['delete']);
    await sign();
    during.push(async () => {
      await store.transact('erasure', (tx) => tx.query((db) => db.deleteFrom('erasures')));
      await rig.erase(['begin', 'replace', 'delete']);
      await store.transact('erasure', (tx) =>
        tx.query((db) => db.updateTable('erasures').set({ started_at: 9, deleted_at: 9 })),
      );
    });
    await assert.rejects(sign(), refused, 'begun and ended while it signs');
  });

  test('a signing and a registration find erasures by indexes', async () => {
    const rig = await open(storeName);
    await using _ = rig.files;
    const query = (sql: string, parameters: readonly unknown[] = []) => ({
      compile: () => ({ sql, parameters }),
      execute: async () => [] as object[],
    });
    const plan = <P>(statement: Statement<P, unknown>, params: P) =>
      rig.store.transact('account', async (tx) => {
        // On a small table PostgreSQL would read all rows.
        const others = storeName === 'postgres' ? ['seqscan', 'hashjoin', 'mergejoin'] : [];
        for (const method of others) await tx.query(() => query(`set local enable_${method} = off`));
        const explain = storeName === 'postgres' ? 'explain' : 'explain query plan';
        const rows = await tx.query((db) => {
          const { sql, parameters } = statement.build(db, params).compile();
          return query(`${explain} ${sql}`, parameters);
        });
        return JSON.stringify(rows);
      });
    const folders = jsonRows([{ id: 'a' }]);
    const signing = await plan(erasuresOfFolders, { integrationId: INTEGRATION, folders });
    assert.match(signing, /erasures_folder \(folder_id=|Index Cond: \(folder_id = /);
    assert.match(signing, /erasures_finished/);
    assert.match(await plan(refusedPerson, { integrationId: INTEGRATION, consumerId: PERSON }), /erasures_finished/);
    assert.match(await plan(unfinishedErasures, { limit: 10 }), /erasures_finished/);
    assert.match(await plan(oldErasures, { until: 1 }), /erasures_finished/);
  });

  test('a batch whose row may not exist deletes no bytes', async () => {
    const rig = await open(storeName);
    await using _ = rig.files;
    const key = newFileBlobKey();
    await rig.blobs.put(key, Buffer.from('bytes'));
    // The connection is lost after the commit, so the caller does not know of it.
    const transact: Store['transact'] = async (name, work) => {
      const value = await rig.store.transact(name, work);
      if (lost.pop() === true) throw new StoreUnavailable('away');
      return value;
    };
    const lost = [true];
    const pending = rig.pendingOn({ ...rig.store, reads: rig.store.reads, transact }, rig.blobs);
    const owner = { integrationId: INTEGRATION, consumerId: PERSON, path: null };
    await assert.rejects(pending.begin([key], owner, anyone), StoreUnavailable);
    await pending.deleteAbandoned();
    assert.equal(await rig.pending.isClear(rig.person), true, 'the row is deleted');
    assert.notEqual(await rig.blobs.read(key), null);
  });

  test('bytes that cannot be deleted do not keep other bytes', async () => {
    const rig = await open(storeName);
    await using _ = rig.files;
    const broken = new Set<string>();
    const remove = async (key: string) => {
      if (broken.has(key)) throw new Error('The disk is broken.');
      await rig.blobs.delete(key);
    };
    const blobs = { ...rig.blobs, delete: remove, deleteUnfinished: remove };
    const pending = rig.pendingOn(rig.store, blobs as unknown as BlobStore);
    const batches = [await rig.begin(), await rig.begin(), await rig.begin()];
    for (const { keys } of batches.slice(0, 2)) broken.add(keys[0] ?? '');
    for (const batch of batches.slice(0, 2)) await pending.abandon(batch);
    broken.delete(batches[1]?.keys[0] ?? '');
    await rig.store.transact('account', (tx) => tx.query((db) => db.updateTable('nodes').set({ dead: 1 })));
    await pending.deleteAbandoned();
    assert.deepEqual(await Promise.all(batches.map(rig.isStored)), [true, false, false]);
  });

  test('retries the deletion after an outage of the store', async () => {
    const rig = await open(storeName);
    await using _ = rig.files;
    const batch = await rig.begin();
    rig.node.lost();
    await rig.pending.abandon(batch, new StoreUnavailable('away'));
    await rig.pending.deleteAbandoned();
    assert.equal(await rig.isStored(batch), false);
  });
}
