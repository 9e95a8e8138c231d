import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { imageAttachment, makePng, STORES, type StoreName } from '@runwire/test-kit';
import { askStore } from './support/ask-store.ts';
import { AttachmentRig, blobsIn, fileAt, imageAt } from './support/attachment-rig.ts';
import { getFolder } from './support/cli-process.ts';

const NEVER_MS = 3_600_000;
const DAY_MS = 86_400_000;
const one = makePng(200, 1);
const two = makePng(200, 2);
const sweep = (rig: AttachmentRig) => rig.rig.server.server.probes.sweepBlobs();
const attachedIn = async (rig: AttachmentRig) =>
  (
    await askStore(
      rig.rig.server.dataDir,
      `select c.chat_id, a.url from attachments a join chats c on c.chat_key = a.chat_key order by c.chat_id, a.position`,
    )
  ).map((row) => [row.chat_id, row.url]);
const remove = async (rig: AttachmentRig, integration: string) =>
  assert.equal((await rig.api.delete(`/v2/integrations/${integration}`)).status, 204);

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  /** Sweeps when the test calls for it, and then deletes everything that is old enough. */
  const start = (options: { dataDir?: string; unusedBlobMs?: number } = {}) => {
    const { unusedBlobMs = 0, ...others } = options;
    return AttachmentRig.start({ store, ...others, limits: { unusedBlobMs, sweepMs: NEVER_MS } });
  };

  test('attachments are deleted a day after their integration', async (t) => {
    const dataDir = getFolder(t);
    {
      await using rig = await start({ dataDir, unusedBlobMs: DAY_MS });
      await rig.rig.integration({ apiIntegrationId: 'gone' });
      await rig.rig.integration({ apiIntegrationId: 'forgetful', keepAttachments: false });
      const url = `${rig.files.serve('/1.png', one)}?sig=SECRET`;
      const both = [imageAt(url), imageAttachment(two)];
      await rig.rig.answer({ apiIntegrationId: 'gone', chatId: 'a', attachments: both });
      await rig.rig.answer({ apiIntegrationId: 'gone', chatId: 'b', attachments: [imageAttachment(two)] });
      await rig.rig.answer({ apiIntegrationId: 'forgetful', chatId: 'c', attachments: [imageAt(url)] });
      await rig.rig.answer({ chatId: 'stays', attachments: [imageAttachment(two)] });
      for (const integration of ['gone', 'forgetful']) await remove(rig, integration);
      assert.equal(await sweep(rig), 0);
      assert.equal((await attachedIn(rig)).length, 5, 'not yet');
    }
    await using rig = await start({ dataDir });
    // The start sweeps too. Either sweep may delete them, but after this one they are deleted.
    await sweep(rig);
    await sweep(rig);
    assert.deepEqual(await attachedIn(rig), [['stays', null]]);
    assert.equal(blobsIn(dataDir).length, 1, 'that of the other integration');
    const [texts] = await askStore(dataDir, `select count(*) as messages from messages`);
    assert.equal(Number(texts?.messages), 8, 'the texts stay');
    const next = await rig.rig.answer({ chatId: 'stays', message: 'And?' });
    assert.ok(JSON.stringify(next.call.request.prompt).includes(two.toString('base64')));
  });

  test('files that a run of a deleted integration may read stay until it ends', async () => {
    await using rig = await start();
    const integration = await rig.rig.integration();
    const body = { apiIntegrationId: integration };
    const url = rig.files.serve('/a.txt', 'The harbour opens at six.', 'text/plain');
    await rig.rig.answer({ ...body, chatId: 'busy', attachments: [fileAt(url)] });
    await rig.rig.answer({ ...body, chatId: 'idle', attachments: [fileAt(url), imageAttachment(one)] });
    const held = await rig.rig.hold({ ...body, chatId: 'busy', message: 'And?' });
    // The API would refuse this request. With several nodes, one node may admit it while another deletes the
    // integration.
    await askStore(
      rig.rig.server.dataDir,
      `update integrations set deleted_at = 1 where integration_id = '${integration}'`,
    );
    assert.equal(await sweep(rig), 1, 'the image of the idle chat');
    assert.deepEqual(await attachedIn(rig), [['busy', url]]);
    assert.equal(blobsIn(rig.rig.server.dataDir).length, 1);
    await held.finish();
    assert.equal(await sweep(rig), 1);
    assert.deepEqual(await attachedIn(rig), []);
    assert.deepEqual(blobsIn(rig.rig.server.dataDir), []);
  });

  test('attachments of more chats than go into one batch go in one sweep', async () => {
    await using rig = await start();
    const { dataDir } = rig.rig.server;
    const integration = await rig.rig.integration();
    await rig.rig.answer({ apiIntegrationId: integration, chatId: 'c', attachments: [imageAttachment(one)] });
    const copies = `with recursive n(i) as (select 1 union all select i + 1 from n where i < 250)`;
    await askStore(
      dataDir,
      `${copies} insert into attachments (chat_key, run_id, position, kind, detail, form, media_type, size_bytes, blob_key)
      select chat_key || i, run_id || i, position, kind, detail, form, media_type, size_bytes, blob_key from attachments, n`,
    );
    await askStore(
      dataDir,
      `${copies} insert into chats (chat_key, integration_id, chat_id, num_messages, text_bytes, created_at, updated_at)
      select chat_key || i, integration_id, chat_id || i, num_messages, text_bytes, created_at, updated_at from chats, n`,
    );
    await remove(rig, integration);
    assert.equal((await attachedIn(rig)).length, 251);
    assert.equal(await sweep(rig), 1);
    assert.deepEqual(await attachedIn(rig), []);
  });
}
