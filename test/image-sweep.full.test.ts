import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { hookStore, imageAttachment, makePng, STORES, type StoreName, temporaryFolder } from '@runwire/test-kit';
import { StoreUnavailable } from '../packages/server/src/domain/unavailable.ts';
import { newBlobKey } from '../packages/server/src/storage/blob-store.ts';
import { computeHashes, hashesIn } from './support/attachment-rig.ts';
import { refusal, ScriptedServer } from './support/scripted-server.ts';

const one = makePng(200, 1);
const two = makePng(200, 2);
const NEVER_MS = 3_600_000;

/** A store whose next admissions behave as the test asks. */
function admissions() {
  const next: (<T>(go: () => Promise<T>) => Promise<T>)[] = [];
  const wrapStore = hookStore({
    transact: (name, transact) => {
      const stage = name === 'admit' ? next.shift() : undefined;
      return stage === undefined ? transact() : stage(transact);
    },
  });
  return { next, wrapStore };
}

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  /** A server that sweeps when the test calls for it, and then deletes every unreferenced blob immediately. */
  const start = (options = {}) =>
    ScriptedServer.start({ store, limits: { unusedBlobMs: 0, sweepMs: NEVER_MS }, ...options });

  test('deleting a chat frees the images that no other chat refers to', async () => {
    await using rig = await start();
    const { sweepBlobs } = rig.server.server.probes;
    await rig.answer({ chatId: 'a', attachments: [imageAttachment(one), imageAttachment(two)] });
    await rig.answer({ chatId: 'b', attachments: [imageAttachment(two)] });
    assert.equal(await sweepBlobs(), 0, 'both are in use');
    assert.equal((await rig.api.delete('/v2/integrations/demo/chats/a')).status, 204);
    assert.equal(await sweepBlobs(), 1);
    assert.deepEqual(hashesIn(rig.server.dataDir), computeHashes(two));
    // The remaining image is intact: the other chat continues with it.
    const next = await rig.answer({ chatId: 'b', message: 'And?' });
    assert.ok(JSON.stringify(next.call.request.prompt).includes(two.toString('base64')));
    assert.equal((await rig.api.delete('/v2/integrations/demo/chats/b')).status, 204);
    assert.equal(await sweepBlobs(), 1);
    assert.deepEqual(hashesIn(rig.server.dataDir), []);
  });

  test('images of a refused request are swept after their time, not before', async (t) => {
    const dataDir = temporaryFolder();
    t.after(() => rmSync(dataDir, { recursive: true, force: true }));
    const { next, wrapStore } = admissions();
    {
      await using rig = await ScriptedServer.start({ store, dataDir, wrapStore, limits: { sweepMs: NEVER_MS } });
      next.push(() => Promise.reject(new StoreUnavailable('not now')));
      const { status, admitted } = await refusal(await rig.api.complete({ attachments: [imageAttachment(one)] }));
      assert.deepEqual([status, admitted], [503, 'false']);
      assert.deepEqual(hashesIn(dataDir), computeHashes(one), 'it was stored before the transaction');
      await rig.answer({ chatId: 'c', attachments: [imageAttachment(two)] });
      assert.equal(await rig.server.server.probes.sweepBlobs(), 0, 'a day has not passed');
    }
    await using rig = await start({ dataDir });
    await rig.server.server.probes.sweepBlobs();
    assert.deepEqual(hashesIn(dataDir), computeHashes(two));
  });

  test('a request that can be refused early stores no image', async () => {
    await using rig = await start();
    const held = await rig.hold({ chatId: 'c' });
    const { status, body } = await refusal(
      await rig.api.complete({ chatId: 'c', attachments: [imageAttachment(one)] }),
    );
    assert.deepEqual([status, body.code], [409, 'run_active']);
    const unknown = { apiIntegrationId: 'demo', agent: 'Nobody', attachments: [imageAttachment(one)] };
    assert.equal((await refusal(await rig.api.complete(unknown))).body.code, 'unknown_agent');
    assert.deepEqual(hashesIn(rig.server.dataDir), []);
    await held.finish();
  });

  test('an image that is swept during its admission is stored again', async () => {
    const { next, wrapStore } = admissions();
    await using rig = await start({ wrapStore });
    const { sweepBlobs } = rig.server.server.probes;
    await rig.answer({ chatId: 'a', attachments: [imageAttachment(one)] });
    await rig.api.delete('/v2/integrations/demo/chats/a');
    // The request finds that its integration has these bytes. Then a sweep deletes them, before the request refers to
    // them.
    next.push(async (go) => {
      assert.equal(await sweepBlobs(), 1);
      return go();
    });
    const { call } = await rig.answer({ chatId: 'b', attachments: [imageAttachment(one)] });
    assert.ok(JSON.stringify(call.request.prompt).includes(one.toString('base64')));
    assert.deepEqual(hashesIn(rig.server.dataDir), computeHashes(one));
    assert.equal(await sweepBlobs(), 0);
  });

  test('a sweep keeps bytes whose request is not admitted yet', async () => {
    const { next, wrapStore } = admissions();
    await using rig = await ScriptedServer.start({ store, wrapStore, limits: { sweepMs: NEVER_MS } });
    next.push(async (go) => {
      assert.deepEqual(hashesIn(rig.server.dataDir), computeHashes(one));
      assert.equal(await rig.server.server.probes.sweepBlobs(), 0);
      return go();
    });
    const { call } = await rig.answer({ attachments: [imageAttachment(one)] });
    assert.ok(JSON.stringify(call.request.prompt).includes(one.toString('base64')));
  });

  test('two concurrent requests with the same new image both have it', async () => {
    const { next, wrapStore } = admissions();
    await using rig = await start({ wrapStore });
    rig.controller.answerAll('Hi');
    const { promise, resolve } = Promise.withResolvers<void>();
    let waiting = 0;
    // Both requests have stored their bytes before either transaction.
    const together = async <T>(go: () => Promise<T>) => {
      waiting += 1;
      if (waiting === 2) resolve();
      await promise;
      return go();
    };
    next.push(together, together);
    const readers = await Promise.all(
      ['a', 'b'].map((chatId) => rig.api.complete({ chatId, attachments: [imageAttachment(one)] })),
    );
    for (const reader of readers) await reader.whole();
    // The later transaction refers to the earlier one's bytes, and its own are deleted.
    assert.deepEqual(hashesIn(rig.server.dataDir), computeHashes(one));
    assert.equal(await rig.server.server.probes.sweepBlobs(), 0);
    for (const { request } of rig.controller.calls) {
      assert.ok(JSON.stringify(request.prompt).includes(one.toString('base64')));
    }
    for (const chatId of ['a', 'b']) await (await rig.api.complete({ chatId, message: 'And?' })).whole();
    for (const { request } of rig.controller.calls.slice(2)) {
      assert.ok(JSON.stringify(request.prompt).includes(one.toString('base64')));
    }
    assert.equal(rig.controller.calls.length, 4);
  });

  test('sweeps more files than go into one batch, and leaves those in use', async () => {
    await using rig = await start();
    for (let index = 0; index < 250; index += 1) {
      const bytes = Buffer.from(String(index));
      const key = newBlobKey(hash('sha256', bytes));
      const folder = join(rig.server.dataDir, 'blobs', key.slice(0, 2));
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, key), bytes);
    }
    await rig.answer({ chatId: 'c', attachments: [imageAttachment(one)] });
    await rig.server.server.probes.sweepBlobs();
    assert.deepEqual(hashesIn(rig.server.dataDir), computeHashes(one));
  });
}
