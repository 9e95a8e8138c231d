import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type ApiClient, STORES, type StoreName, startTestServer } from '@runwire/test-kit';
import { askStore } from './support/ask-store.ts';
import { folderOf } from './support/cli-process.ts';
import { download, type SignedForm, sendForm, signing, upload } from './support/uploads.ts';

const sign = (api: ApiClient, filename: string, sizeBytes: number, apiIntegrationId = 'demo') =>
  api.post('/create_agency_upload', signing(sizeBytes, { filename, apiIntegrationId }));
/** Makes forms look as if they were signed this many minutes ago; after 20 minutes no upload of a form is open. */
const age = (dataDir: string, minutes: number, name = '') =>
  askStore(
    dataDir,
    `update upload_forms set signed_at = ${Date.now() - minutes * 60_000 - 1} where path like '%${name}'`,
  );
const fileOf = (path: string) => `/v2/integrations/demo/files?path=${encodeURIComponent(path)}`;

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  const start = (bytes: number) => startTestServer({ store, env: { RUNWIRE_MOUNT_QUOTA_BYTES: String(bytes) } });

  test('files and forms never exceed the quota; the refusal has used, foreseen and quota', async () => {
    await using server = await start(100);
    const { api } = server;
    await upload(api, 'x'.repeat(40), { filename: 'there' });
    assert.equal((await sign(api, 'promised', 50)).status, 200);
    const { status, body } = await sign(api, 'more', 11);
    assert.deepEqual([status, body.code], [409, 'mount_quota_exceeded']);
    assert.deepEqual([body.usedBytes, body.foreseenBytes, body.quotaBytes], [40, 101, 100]);
    assert.match(body.error, /\b40 bytes.*\b101\b.*\b100; delete files/);
    assert.equal((await sign(api, 'more', 10)).status, 200, 'to the last byte');
    assert.equal((await sign(api, 'one', 1)).status, 409);
  });

  test('signs exactly as many of 50 concurrent requests as fit', async () => {
    await using server = await start(1000);
    const { api } = server;
    await upload(api, 'x'.repeat(95), { filename: 'there' });
    const answers = await Promise.all(Array.from({ length: 50 }, (_, place) => sign(api, `f${place}`, 30)));
    const statuses = answers.map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 200).length, 30);
    assert.equal(statuses.filter((status) => status === 409).length, 20);
    // All of them arrive: the mount is full, and not beyond.
    const signed = answers.filter(({ status }) => status === 200).map(({ body }) => body as SignedForm);
    for (const form of signed) assert.equal(await sendForm(form, Buffer.alloc(30, 'y')), 204);
    const { body } = await api.get('/v2/integrations/demo/files?folder=/app/mnt/u&limit=200');
    const sum = body.items.reduce((bytes: number, { size }: { size: number }) => bytes + size, 0);
    assert.equal(sum, 995);
    const refused = await sign(api, 'last', 6);
    assert.deepEqual([refused.body.usedBytes, refused.body.foreseenBytes], [995, 1001], 'nothing is counted twice');
    assert.equal((await sign(api, 'last', 5)).status, 200);
  });

  test('50 concurrent signings that replace files count by the difference', async () => {
    await using server = await start(500);
    const { api } = server;
    for (let place = 0; place < 10; place += 1) await upload(api, 'x'.repeat(40), { filename: `f${place}` });
    await age(server.dataDir, 20);
    // 100 bytes are free: ten files may grow by ten, however often each is asked for.
    const answers = await Promise.all(Array.from({ length: 50 }, (_, place) => sign(api, `f${place % 10}`, 50)));
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
    assert.equal((await sign(api, 'f0', 51)).status, 409);
    assert.equal((await sign(api, 'new', 1)).status, 409);
    assert.equal((await sign(api, 'f0', 1)).status, 200, 'a smaller one takes nothing more');
  });

  test('a form that is over frees its bytes, and so does a file that is deleted', async () => {
    await using server = await start(100);
    const { api } = server;
    const path = await upload(api, 'x'.repeat(60), { filename: 'there' });
    assert.equal((await sign(api, 'promised', 40)).status, 200);
    assert.equal((await sign(api, 'more', 1)).status, 409);
    await age(server.dataDir, 20, 'promised');
    assert.equal((await sign(api, 'more', 40)).status, 200);
    assert.equal((await api.delete(fileOf(path))).status, 204);
    assert.equal((await sign(api, 'again', 60)).status, 409, 'its form could be sent once more');
    await age(server.dataDir, 20, 'there');
    assert.equal((await sign(api, 'again', 60)).status, 200);
  });

  test('a form that expired counts as long as an upload by it may still be under way', async () => {
    await using server = await start(100);
    const { api } = server;
    await upload(api, 'x'.repeat(30), { filename: 'there' });
    assert.equal((await sign(api, 'promised', 40)).status, 200);
    await age(server.dataDir, 19);
    const refused = await sign(api, 'more', 31);
    assert.deepEqual([refused.status, refused.body.usedBytes, refused.body.foreseenBytes], [409, 30, 101]);
    const below = signing(1, { folder: '/app/mnt/u/promised', filename: 'below' });
    assert.equal((await api.post('/create_agency_upload', below)).body.code, 'file_exists_as_folder');
    await age(server.dataDir, 20);
    assert.equal((await sign(api, 'more', 31)).status, 200);
    assert.equal((await api.post('/create_agency_upload', below)).status, 200);
  });

  test('a lower quota deletes nothing, and signs again when there is room', async (t) => {
    const dataDir = folderOf(t);
    const withQuota = (bytes: number) =>
      startTestServer({ store, dataDir, env: { RUNWIRE_MOUNT_QUOTA_BYTES: String(bytes) } });
    await using before = await withQuota(100);
    const path = await upload(before.api, 'x'.repeat(60), { filename: 'there' });
    await before[Symbol.asyncDispose]();
    await age(dataDir, 20);
    await using server = await withQuota(50);
    const { api } = server;
    assert.equal((await (await download(api, path)).text()).length, 60);
    const { status, body } = await sign(api, 'more', 1);
    assert.deepEqual([status, body.usedBytes, body.foreseenBytes, body.quotaBytes], [409, 60, 61, 50]);
    assert.equal((await api.delete(fileOf(path))).status, 204);
    assert.equal((await sign(api, 'more', 50)).status, 200);
  });

  test('each integration has its own, and without the setting there is none', async () => {
    await using server = await start(100);
    const { api } = server;
    await api.post('/v2/integrations', { apiIntegrationId: 'other' });
    assert.equal((await sign(api, 'a', 100)).status, 200);
    assert.equal((await sign(api, 'a', 100, 'other')).status, 200);
    assert.equal((await sign(api, 'b', 1)).status, 409);
    assert.equal((await sign(api, 'b', 1, 'other')).status, 409);
    await using free = await start(0);
    for (let place = 0; place < 5; place += 1) {
      assert.equal((await sign(free.api, `f${place}`, 20_971_520)).status, 200);
    }
  });
}
