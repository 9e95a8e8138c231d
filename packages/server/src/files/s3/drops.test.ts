import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { hookStore } from '@runwire/test-kit/hook-store.ts';
import { testS3Files } from '@runwire/test-kit/s3-files.ts';
import { stopOwnS3 } from '@runwire/test-kit/s3-gateway.ts';
import { insertTestForm, pathInMount, TestFiles } from '@runwire/test-kit/test-files.ts';
import { STORES, type StoreName } from '@runwire/test-kit/test-store.ts';
import { cites } from '../../../../../requirements/cite.ts';
import { missingService } from '../../../../../test/support/services.ts';
import { notAudited } from '../../audit/audit.ts';
import { ErasedIds } from '../../domain/account/erased-ids.ts';
import { newIntegrationId } from '../../domain/ids.ts';
import { freedFiles, storedPath } from '../../store/queries/files.ts';
import { insertForm } from '../../store/queries/upload-forms.ts';
import type { Store } from '../../store/store.ts';
import { ThisNode } from '../../store/this-node.ts';
import { createLogger } from '../../telemetry/logger.ts';
import { uncachedOutbox } from '../../webhooks/event-outbox.ts';
import { Files } from '../files.ts';
import { PendingBlobs } from '../pending-blobs.ts';
import { Drops, dropKey } from './drops.ts';

const skip = (await missingService('s3')) ?? false;
after(stopOwnS3);

const INTEGRATION = newIntegrationId('one');
const PATH = pathInMount('a.txt');
const TYPE = 'text/plain';

for (const store of STORES) describe(store, { skip }, () => tests(store));

/** Nodes that share a store and a bucket. */
async function open(storeName: StoreName) {
  await using stack = new AsyncDisposableStack();
  const { store } = stack.use(await TestFiles.open({ store: storeName }));
  const s3 = stack.use(await testS3Files());
  const { bucket } = s3;
  const prefix = `${s3.mark}/drops/`;
  const logger = createLogger('silent');
  const blobs = s3.blobs();

  function node(over: (store: Store) => Store = (own) => own) {
    const pending = new PendingBlobs({ store, blobs, ids: new ErasedIds('secret'), node: new ThisNode(), logger });
    const settleUploads = new Drops({
      store: over(store),
      bucket,
      blobs,
      pending,
      prefix,
      outbox: uncachedOutbox(),
      logger,
    }).settle;
    return new Files({ store, blobs, pending, settleUploads, outbox: uncachedOutbox(), logger });
  }

  /** A node that stops between the copy of a drop and its transaction. */
  function heldNode() {
    const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const files = node(
      hookStore({
        transact: async (_, transact) => {
          reached.resolve();
          await released.promise;
          return transact();
        },
      }),
    );
    return { files, reached: reached.promise, release: released.resolve };
  }

  const sign = async (formId: string, signedAt = Date.now()) => {
    const form = { integration_id: INTEGRATION, form_id: formId, path: storedPath(PATH), content_type: TYPE };
    const times = { signed_at: signedAt, expires_at: signedAt + 900_000 };
    await store.transact('account', (tx) => tx.run(insertForm, { ...form, ...times, size_bytes: 5, to_s3: 1 }));
  };
  /** What S3 does with a form. */
  const send = async (formId: string, text: string) => {
    const bytes = Buffer.from(text);
    const body = { bytes: () => bytes, length: bytes.length, contentType: TYPE };
    await bucket.put(dropKey(prefix, INTEGRATION, formId), body);
  };
  const read = async (files: Files) => {
    const file = await files.find(INTEGRATION, PATH);
    if (file === null) return null;
    await using opened = await files.open(file);
    return Buffer.concat(await Array.fromAsync(opened.bytes)).toString();
  };
  const freed = async () => (await store.reads.all(freedFiles, { until: Date.now(), limit: 100 })).length;
  const blobCount = async () => (await Array.fromAsync(blobs.list())).length;
  const owner = stack.move();
  const dispose = () => owner.disposeAsync();
  return { store, node, heldNode, blobs, sign, send, read, freed, blobCount, [Symbol.asyncDispose]: dispose };
}

/** Waits until the second has just begun: what follows happens in one second of S3. */
const nextSecond = () => sleep(1000 - (Date.now() % 1000) + 5);

function tests(store: StoreName): void {
  test('publishes each drop once if two nodes settle it', async (t) => {
    cites(t, 'contract-7-drops');
    await using rig = await open(store);
    const now = Date.now();
    await rig.sign('form_1', now);
    await rig.sign('form_2', now);
    await nextSecond();
    await rig.send('form_1', 'first');
    const [fast, slow] = [rig.node(), rig.heldNode()];
    const slowRead = rig.read(slow.files);
    await slow.reached;
    await rig.send('form_2', 'other');
    const shown = await rig.read(fast);
    slow.release();
    assert.equal(await slowRead, shown);
    assert.deepEqual([await rig.freed(), await rig.blobCount()], [1, 2], 'of two uploads one is replaced');
  });

  test('a node that was stopped for hours does not publish a copy that a sweep deleted', async (t) => {
    cites(t, 'contract-7-drops');
    await using rig = await open(store);
    await rig.sign('form_1');
    await rig.send('form_1', 'first');
    let isStopped = true;
    const transact = async <T>(_: string, work: () => Promise<T>): Promise<T> => {
      if (!isStopped) return work();
      isStopped = false;
      for await (const { key } of rig.blobs.list()) await rig.blobs.delete(key);
      const later = Date.now() + 2 * 3_600_000;
      const clock = t.mock.method(Date, 'now', () => later);
      return work().finally(() => clock.mock.restore());
    };
    assert.equal(await rig.read(rig.node(hookStore({ transact }))), 'first');
    assert.equal(isStopped, false);
  });

  test('does not publish a drop again after its file was deleted', async (t) => {
    cites(t, 'contract-7-drops');
    await using rig = await open(store);
    await rig.sign('form_1');
    await rig.send('form_1', 'first');
    const [fast, slow] = [rig.node(), rig.heldNode()];
    const slowRead = rig.read(slow.files);
    await slow.reached;
    assert.equal(await rig.read(fast), 'first');
    assert.equal(await fast.delete(INTEGRATION, PATH, notAudited), true);
    slow.release();
    assert.equal(await slowRead, null);
    assert.equal(await rig.read(fast), null);
  });

  test('keeps the later of two uploads with one form in the same second', async (t) => {
    cites(t, 'contract-7-drops');
    await using rig = await open(store);
    await rig.sign('form_1');
    await nextSecond();
    await rig.send('form_1', 'first');
    const [fast, slow] = [rig.node(), rig.heldNode()];
    const slowRead = rig.read(slow.files);
    await slow.reached;
    await rig.send('form_1', 'later');
    assert.equal(await rig.read(fast), 'later');
    slow.release();
    assert.equal(await slowRead, 'later');
    assert.equal(await rig.read(fast), 'later');
  });

  test('publishes the same bytes that are sent again after a delete in the same second', async (t) => {
    cites(t, 'contract-7-drops');
    await using rig = await open(store);
    const files = rig.node();
    await rig.sign('form_1');
    await nextSecond();
    for (const remove of [
      () => files.delete(INTEGRATION, PATH, notAudited),
      async () => (await files.deleteFolder(INTEGRATION, pathInMount(''), notAudited)) === 1,
    ]) {
      await rig.send('form_1', 'first');
      assert.equal(await rig.read(files), 'first');
      assert.equal(await remove(), true);
    }
    await rig.send('form_1', 'first');
    assert.equal(await rig.read(files), 'first');
  });

  test('an upload replaces a file of the same second that has milliseconds', async (t) => {
    cites(t, 'contract-7-drops');
    await using rig = await open(store);
    const files = rig.node();
    await nextSecond();
    await sleep(50);
    const signedAt = Date.now();
    const here = async function* () {
      yield Buffer.from('here');
    };
    const form = await insertTestForm(rig.store, INTEGRATION, PATH, signedAt);
    await files.upload(INTEGRATION, { ...form, contentType: TYPE }, here());
    await rig.sign('form_1', signedAt + 1);
    await rig.send('form_1', 'in S3');
    assert.equal(await rig.read(files), 'in S3');
  });
}
