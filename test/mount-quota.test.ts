import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type ApiClient, STORES, type StoreName, startTestServer } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { askStore } from './support/ask-store.ts';
import { getFolder } from './support/cli-process.ts';
import { download, type SignedForm, sendForm, signing, upload } from './support/uploads.ts';

const sign = (api: ApiClient, filename: string, sizeBytes: number, apiIntegrationId = 'demo') =>
  api.post('/create_agency_upload', signing(sizeBytes, { filename, apiIntegrationId }));
/** Makes forms look as if they were signed this many minutes ago; after 20 minutes no upload of a form is open. */
const age = (dataDir: string, minutes: number, name = '') =>
  askStore(
    dataDir,
    `update upload_forms set signed_at = ${Date.now() - minutes * 60_000 - 1} where path like '%${name}'`,
  );
const getFile = (path: string) => `/v2/integrations/demo/files?path=${encodeURIComponent(path)}`;

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  const start = (bytes: number) => startTestServer({ store, env: { RUNWIRE_MOUNT_QUOTA_BYTES: String(bytes) } });

  test('files and forms never exceed the quota; the refusal has used, foreseen and quota', async (t) => {
    cites(t, 'contract-8-409-mount-quota-exceeded');
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
    assert.equal((await api.delete(getFile(path))).status, 204);
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
    const dataDir = getFolder(t);
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
    assert.equal((await api.delete(getFile(path))).status, 204);
    assert.equal((await sign(api, 'more', 50)).status, 200);
  });

  test('each member has a quota for its folder, and each integration can have others', async (t) => {
    cites(t, 'contract-7-member-quota');
    await using server = await startTestServer({ store, env: { RUNWIRE_MEMBER_QUOTA_BYTES: '100' } });
    const { api, dataDir } = server;
    const demo = '/v2/integrations/demo';
    const patch = async (fields: object) => (await api.patch(demo, fields)).status;
    const ask = async (folder: string, filename: string, sizeBytes: number, caller = api) => {
      const { status, body } = await caller.post('/create_agency_upload', signing(sizeBytes, { folder, filename }));
      return status === 409 ? [body.usedBytes, body.foreseenBytes, body.quotaBytes] : status;
    };
    const [ann, bob] = ['/app/mnt/members/ann', '/app/mnt/members/bob'];
    await upload(api, 'x'.repeat(60), { folder: `${ann}/deep`, filename: 'there' });
    assert.deepEqual(await ask(ann, 'more', 41), [60, 101, 100]);
    assert.equal(await ask(ann, 'more', 40), 200);
    const { body: refused } = await api.post('/create_agency_upload', signing(1, { folder: ann, filename: 'one' }));
    assert.equal(refused.code, 'mount_quota_exceeded');
    assert.match(
      refused.error,
      /of this member, below \/app\/mnt\/members\/ann, use 60 bytes\..*\b100; delete files there/,
    );
    assert.deepEqual(
      [await ask(bob, 'a', 100), await ask('/app/mnt/members', 'a', 500)],
      [200, 200],
      'others have room',
    );

    await api.put(`${demo}/members/ann`, {});
    const { body: minted } = await api.post(`${demo}/client_tokens`, { consumerId: 'ann', can: ['upload'] });
    assert.deepEqual(await ask(ann, 'one', 1, api.as(minted.clientToken)), [60, 101, 100], 'a token counts');

    await age(dataDir, 20);
    await upload(api, 'x'.repeat(70), { folder: `${ann}/deep`, filename: 'there' });
    assert.deepEqual(await ask(ann, 'more', 31), [70, 101, 100], 'a new version counts instead of the old one');
    await age(dataDir, 20);
    await api.delete(`${getFile(`${ann}/deep`)}&recursive=true`);
    assert.equal(await ask(ann, 'more', 100), 200, 'a deleted folder is free');
    await age(dataDir, 20);

    // A node of an earlier version adds a file, and does not know the sums of folders.
    const columns = 'integration_id, path, blob_key, size_bytes, etag, content_type, modified_at';
    await askStore(
      dataDir,
      `insert into files (${columns}) values ('demo', '\u0001members\u0001ann\u0001x', 'x', 30, '', '', 1)`,
    );
    await askStore(dataDir, `update integrations set file_bytes = file_bytes + 30 where integration_id = 'demo'`);
    assert.deepEqual(await ask(ann, 'more', 71), [30, 101, 100], 'counted again');

    assert.equal(await patch({ memberQuotaBytes: 0 }), 200);
    assert.equal(await ask(ann, 'large', 1000), 200);
    assert.equal(await patch({ memberQuotaBytes: 2000, quotaBytes: 1050 }), 200);
    assert.deepEqual(await ask(ann, 'more', 50), [30, 1080, 1050], 'the quota of the integration');
    assert.equal(
      await patch({ memberQuotaBytes: null, quotaBytes: null, memberFolder: '/app/mnt/{consumerId}/own' }),
      200,
    );
    assert.equal(await ask(ann, 'more', 500), 200, 'it is not the folder of a member any more');
    assert.deepEqual(await ask('/app/mnt/ann/own', 'more', 101), [0, 101, 100]);
    for (const wrong of [-1, 1.5, '1', 2 ** 50 + 1]) {
      assert.deepEqual([await patch({ quotaBytes: wrong }), await patch({ memberQuotaBytes: wrong })], [400, 400]);
    }
  });

  test('each integration has its own, and without the setting there is none', async () => {
    await using server = await start(100);
    const { api } = server;
    await api.post('/v2/integrations', { apiIntegrationId: 'other' });
    assert.equal((await sign(api, 'a', 100)).status, 200);
    assert.equal((await sign(api, 'a', 100, 'other')).status, 200);
    assert.equal((await sign(api, 'b', 1)).status, 409);
    assert.equal((await sign(api, 'b', 1, 'other')).status, 409);
    await api.patch('/v2/integrations/other', { quotaBytes: 0 });
    assert.equal((await sign(api, 'b', 1, 'other')).status, 200, 'it has none');
    await using free = await start(0);
    for (let place = 0; place < 5; place += 1) {
      assert.equal((await sign(free.api, `f${place}`, 20_971_520)).status, 200);
    }
  });
}
