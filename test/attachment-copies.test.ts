import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fullTest, hookStore, imageAttachment, makePng, STORES, type StoreName } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { askStore } from './support/ask-store.ts';
import { AttachmentRig, attachmentsShown, computeHashes, hashesIn, imageAt } from './support/attachment-rig.ts';
import { toRows } from './support/columns.ts';
import { reading } from './support/left-behind.ts';

const NEVER_MS = 3_600_000;
const one = makePng(200, 1);
const two = makePng(200, 2);

const sweep = (rig: AttachmentRig) => rig.rig.server.server.probes.sweepBlobs();

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  /** A server that sweeps when the test calls for it, and then deletes every unreferenced blob immediately. */
  const start = (options = {}) =>
    AttachmentRig.start({ store, limits: { unusedBlobMs: 0, sweepMs: NEVER_MS }, ...options });

  test('a copy serves all turns; deleting the chat frees unreferenced copies', async (t) => {
    cites(t, 'contract-7-fetched-once');
    await using rig = await start();
    const first = rig.files.serve('/1.png', one);
    const second = rig.files.serve('/2.png', two);
    const { call } = await rig.rig.answer({ chatId: 'a', attachments: [imageAt(first), imageAt(second)] });
    const next = await rig.rig.answer({ chatId: 'a', message: 'And?' });
    assert.deepEqual(attachmentsShown(next.call)[0], attachmentsShown(call)[0]);
    // The same bytes at another address, and inline, are the same copy.
    await rig.rig.answer({ chatId: 'b', attachments: [imageAt(rig.files.serve('/other.png', two))] });
    await rig.rig.answer({ chatId: 'c', attachments: [imageAttachment(two)] });
    assert.deepEqual(hashesIn(rig.rig.server.dataDir), computeHashes(one, two));
    assert.deepEqual([rig.files.asked('/1.png').length, rig.files.asked('/2.png').length], [1, 1]);
    assert.equal(await sweep(rig), 0, 'all are in use');

    assert.equal((await rig.api.delete('/v2/integrations/demo/chats/a')).status, 204);
    assert.equal(await sweep(rig), 1);
    assert.deepEqual(hashesIn(rig.rig.server.dataDir), computeHashes(two));
    assert.equal((await rig.api.delete('/v2/integrations/demo/chats/c')).status, 204);
    assert.equal(await sweep(rig), 0);
    await rig.rig.answer({ chatId: 'b', message: 'Still there?' });
    assert.equal(rig.files.asked('/other.png').length, 1);
    assert.equal((await rig.api.delete('/v2/integrations/demo/chats/b')).status, 204);
    assert.equal(await sweep(rig), 1);
    assert.deepEqual(hashesIn(rig.rig.server.dataDir), []);
  });

  test('two integrations that attach the same bytes have a copy each', async () => {
    await using rig = await start();
    const other = await rig.rig.integration();
    const url = rig.files.serve('/same.png', one);
    await rig.rig.answer({ chatId: 'a', attachments: [imageAt(url)] });
    await rig.rig.answer({ apiIntegrationId: other, chatId: 'a', attachments: [imageAt(url)] });
    assert.equal(rig.files.asked('/same.png').length, 2, 'neither learns that the other has it');
    assert.deepEqual(hashesIn(rig.rig.server.dataDir), computeHashes(one, one));
    assert.equal((await rig.api.delete('/v2/integrations/demo/chats/a')).status, 204);
    assert.equal(await sweep(rig), 1);
    await rig.rig.answer({ apiIntegrationId: other, chatId: 'a', message: 'And?' });
    assert.equal(rig.files.asked('/same.png').length, 2);
    assert.deepEqual(hashesIn(rig.rig.server.dataDir), computeHashes(one));
  });

  test('copies are deleted if the integration stops keeping them; images stay', async () => {
    await using rig = await start();
    const integration = await rig.rig.integration();
    const url = rig.files.serve('/1.png', one);
    const both = [imageAt(url), imageAttachment(two)];
    const { call } = await rig.rig.answer({ apiIntegrationId: integration, chatId: 'a', attachments: both });
    await rig.rig.answer({ chatId: 'other', attachments: [imageAt(url)] });
    assert.equal(await sweep(rig), 0);

    await rig.api.patch(`/v2/integrations/${integration}`, { keepAttachments: false });
    assert.equal(await sweep(rig), 1);
    assert.deepEqual(hashesIn(rig.rig.server.dataDir), computeHashes(one, two), 'of the other integration, and inline');
    assert.equal(await sweep(rig), 0, 'there is nothing left to let go of');
    const next = await rig.rig.answer({ apiIntegrationId: integration, chatId: 'a', message: 'And?' });
    assert.deepEqual(attachmentsShown(next.call)[0], attachmentsShown(call)[0], 'fetched again');
    assert.equal(rig.files.asked('/1.png').length, 3);
  });

  test('copies that a run may be reading stay until it is over', async () => {
    await using rig = await start();
    const integration = await rig.rig.integration();
    const url = rig.files.serve('/1.png', one);
    const idle = rig.files.serve('/2.png', two);
    await rig.rig.answer({ apiIntegrationId: integration, chatId: 'a', attachments: [imageAt(url)] });
    await rig.rig.answer({ apiIntegrationId: integration, chatId: 'b', attachments: [imageAt(idle)] });
    const held = await rig.rig.hold({ apiIntegrationId: integration, chatId: 'a', message: 'And?' });
    await rig.api.patch(`/v2/integrations/${integration}`, { keepAttachments: false });
    assert.equal(await sweep(rig), 1, 'that of the idle chat');
    assert.deepEqual(hashesIn(rig.rig.server.dataDir), computeHashes(one));
    await held.finish();
    assert.equal(await sweep(rig), 1);
    assert.deepEqual(hashesIn(rig.rig.server.dataDir), []);
    const rows = await askStore(rig.rig.server.dataDir, 'select blob_key, form from attachments');
    assert.deepEqual(toRows(rows, 'blob_key', 'form'), [
      [null, 'image'],
      [null, 'image'],
    ]);
  });

  fullTest('one sweep releases the copies of more chats than fit into one batch', async () => {
    await using rig = await start();
    const integration = await rig.rig.integration();
    await rig.rig.answer({
      apiIntegrationId: integration,
      attachments: [imageAt(rig.files.serve('/1.png', one))],
    });
    await askStore(
      rig.rig.server.dataDir,
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < 250)
      insert into attachments (chat_key, run_id, position, kind, url, url_key, detail, form, media_type, size_bytes, blob_key)
      select chat_key || i, run_id || i, position, kind, url, url_key, detail, form, media_type, size_bytes, blob_key
      from attachments, n`,
    );
    await rig.api.patch(`/v2/integrations/${integration}`, { keepAttachments: false });
    assert.equal(await sweep(rig), 1);
    assert.deepEqual(hashesIn(rig.rig.server.dataDir), []);
    const [row] = await askStore(
      rig.rig.server.dataDir,
      'select count(*) as all_of_them, count(blob_key) as kept from attachments',
    );
    assert.deepEqual([Number(row?.all_of_them), Number(row?.kept)], [251, 0]);
  });

  test('copies stay if the integration keeps them again before the sweep', async () => {
    let meanwhile = async () => {};
    const wrapStore = reading(async (statement, _, rows) => {
      if (statement === 'chats with copies to let go' && rows.length > 0) await meanwhile();
      return rows;
    });
    await using rig = await start({ wrapStore });
    const integration = await rig.rig.integration();
    const url = rig.files.serve('/1.png', one);
    await rig.rig.answer({ apiIntegrationId: integration, chatId: 'a', attachments: [imageAt(url)] });
    const keep = async (keepAttachments: boolean) => {
      const { status } = await rig.api.patch(`/v2/integrations/${integration}`, { keepAttachments });
      assert.equal(status, 200);
    };
    await keep(false);
    let asked = 0;
    meanwhile = async () => {
      asked += 1;
      await keep(true);
    };
    assert.equal(await sweep(rig), 0);
    assert.equal(asked, 1);
    await rig.rig.answer({ apiIntegrationId: integration, chatId: 'a', message: 'And?' });
    assert.equal(rig.files.asked('/1.png').length, 1, 'sent from its copy');
  });

  test('a chat whose copies cannot be released delays no other chat', async () => {
    let failures = 0;
    const wrapStore = hookStore({
      write: (statement, write) => {
        if (statement !== 'let go of copies' || failures === 0) return write();
        failures -= 1;
        return Promise.reject(new Error('it broke'));
      },
    });
    await using rig = await start({ wrapStore });
    const integration = await rig.rig.integration();
    for (const [chatId, bytes] of [['a', one] as const, ['b', two] as const, ['c', makePng(200, 3)] as const]) {
      const url = rig.files.serve(`/${chatId}.png`, bytes);
      await rig.rig.answer({ apiIntegrationId: integration, chatId, attachments: [imageAt(url)] });
    }
    await sweep(rig);
    await rig.api.patch(`/v2/integrations/${integration}`, { keepAttachments: false });
    failures = 1;
    assert.equal(await sweep(rig), 2, 'those of the other two chats');
    assert.equal(failures, 0);
    assert.equal(hashesIn(rig.rig.server.dataDir).length, 1);
    assert.equal(await sweep(rig), 1, 'made up for');
    assert.deepEqual(hashesIn(rig.rig.server.dataDir), []);
  });
}
