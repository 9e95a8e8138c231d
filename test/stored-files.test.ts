import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { backup } from '@runwire/server';
import {
  type ApiClient,
  hookStore,
  STORES,
  type StoreName,
  startTestServer,
  storeEnvironment,
} from '@runwire/test-kit';
import { newFileBlobKey } from '../packages/server/src/storage/blob-store.ts';
import { cites } from '../requirements/cite.ts';
import { askStore } from './support/ask-store.ts';
import { getFolder } from './support/cli-process.ts';
import { pickColumn } from './support/columns.ts';
import { at, download, listAll, sendForm, sign, upload } from './support/uploads.ts';

const NEVER_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** A server that sweeps only on request, and then deletes what has been unused for so long. */
const after = (unusedBlobMs: number) => ({ sweepMs: NEVER_MS, unusedBlobMs });
const getPath = (query: Record<string, string>) => `/v2/integrations/demo/files?${new URLSearchParams(query)}`;

/** Lists the blobs and drafts on the disk. */
const blobsIn = (dataDir: string) =>
  readdirSync(join(dataDir, 'blobs'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'installation')
    .map(({ name }) => name)
    .sort();

/** Reads a list page by page; resolves to the names with a slash after folders. */
async function pages(api: ApiClient, folder: string, limit: number): Promise<string[]> {
  const names: string[] = [];
  for (let cursor = ''; ; ) {
    const { body } = await api.get(getPath({ folder, limit: String(limit), ...(cursor === '' ? {} : { cursor }) }));
    assert.ok(body.items.length <= limit);
    for (const { name, kind } of body.items) names.push(kind === 'folder' ? `${name}/` : name);
    if (body.nextCursor === null) return names;
    cursor = body.nextCursor;
  }
}

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  /** The sum that the quota uses equals the rows' sizes. */
  async function checkSums(dataDir: string): Promise<number> {
    const rows = await askStore(
      dataDir,
      `select i.integration_id as id, i.file_bytes as kept, coalesce(sum(f.size_bytes), 0) as real from integrations i
       left join files f on f.integration_id = i.integration_id and f.freed_at is null
       group by i.integration_id, i.file_bytes`,
    );
    for (const { id, kept, real } of rows) assert.equal(Number(kept), Number(real), String(id));
    return rows.reduce((sum, { kept }) => sum + Number(kept), 0);
  }

  test('folders and files are in the order of their names, page by page', async (t) => {
    cites(t, 'contract-9-file');
    await using server = await startTestServer({ store });
    const names = ['B', 'a-', 'a.b', 'a.txt', 'a b', '%41', 'e\u0301', '\u00e9', '写真', '😀', 'ﬁ', '...', '-rf'];
    for (const name of names) await upload(server.api, 'x', at(`/app/mnt/l/${name}`));
    for (const name of ['a/1', 'a/2/3', 'a/2/4', 'a/5', 'b/x/y/z', 'b/x.y']) {
      await upload(server.api, 'x', at(`/app/mnt/l/${name}`));
    }
    const bare = (name: string) => Buffer.from(name.replace(/\/$/, ''));
    const sorted = [...names, 'a/', 'b/'].sort((one, other) => Buffer.compare(bare(one), bare(other)));
    for (const limit of [1, 2, 5, 200]) assert.deepEqual(await pages(server.api, '/app/mnt/l', limit), sorted);
    assert.deepEqual(await pages(server.api, '/app/mnt/l/a', 1), ['1', '2/', '5']);
    assert.deepEqual(await pages(server.api, '/app/mnt', 1), ['l/']);
    const [file] = (await server.api.get(getPath({ folder: '/app/mnt/l/a/2' }))).body.items;
    const { modifiedAt, ...rest } = file;
    assert.ok(Math.abs(Date.parse(modifiedAt) - Date.now()) < 60_000);
    const etag = '"9dd4e461268c8034f5c8564e155c67a6"';
    const path = '/app/mnt/l/a/2/3';
    assert.deepEqual(rest, { name: '3', path, kind: 'file', size: 1, etag, contentType: 'text/plain' });
  });

  test('the sum of the quota equals the sizes of the files after every change', async (t) => {
    cites(t, 'contract-7-file-quota');
    const dataDir = getFolder(t);
    await using server = await startTestServer({ store, dataDir, limits: after(0) });
    const { api } = server;
    await api.post('/v2/integrations', { apiIntegrationId: 'gone' });
    const sizes: number[] = [];
    const note = async () => void sizes.push(await checkSums(dataDir));
    for (const [index, path] of ['u/a', 'u/b', 'u/c/d', 'v'].entries()) {
      await upload(api, 'x'.repeat(10 ** index), at(`/app/mnt/w/${path}`));
    }
    await note();
    await upload(api, 'xxx', at('/app/mnt/w/u/b'));
    await upload(api, 'x'.repeat(500), { apiIntegrationId: 'gone' });
    await note();
    // Concurrent uploads of one path: each form is sent several times.
    const form = await sign(api, 7);
    await Promise.all(Array.from({ length: 8 }, () => sendForm(form, Buffer.from('7 bytes'))));
    await note();
    assert.equal((await api.delete(getPath({ path: '/app/mnt/w/v' }))).status, 204);
    await note();
    assert.equal((await api.delete(getPath({ path: '/app/mnt/w/u', recursive: 'true' }))).status, 204);
    await note();
    assert.equal((await api.delete('/v2/integrations/gone')).status, 204);
    await server.server.probes.sweepFiles();
    await note();
    assert.deepEqual(sizes, [1111, 1604, 1611, 611, 507, 7]);
  });

  test('a folder with many files is deleted completely at one moment', async (t) => {
    const dataDir = getFolder(t);
    const count = 45_000;
    const seen: number[] = [];
    const wrapStore = hookStore({
      transact: async (name, transact) => {
        const result = await transact();
        if (name !== 'files') return result;
        const files = await askStore(
          dataDir,
          `select count(*) as files from files where freed_at is null and path < '\u0001n'`,
        );
        seen.push(Number(files[0]?.files));
        return result;
      },
    });
    await using server = await startTestServer({ store, dataDir, wrapStore });
    const { api } = server;
    await upload(api, 'stays', at('/app/mnt/n/a.txt'));
    await askStore(
      dataDir,
      `insert into files (integration_id, path, blob_key, size_bytes, etag, content_type, modified_at)
       with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})
       select 'demo', '\u0001many\u0001' || i, 'blob ' || i, 1, '', '', 0 from n`,
    );
    await askStore(dataDir, `update integrations set file_bytes = file_bytes + ${count} where integration_id = 'demo'`);
    seen.length = 0;
    assert.equal((await api.delete(getPath({ path: '/app/mnt/many', recursive: 'true' }))).status, 204);
    // The first transaction looks for a file with the folder's name.
    assert.deepEqual(seen, [count, 0]);
    assert.equal(await checkSums(dataDir), 'stays'.length);
    await upload(api, 'again', at('/app/mnt/many/1'));
    assert.deepEqual(
      (await listAll(api)).map(({ path }) => path),
      ['/app/mnt/many/1', '/app/mnt/n/a.txt'],
    );
  });

  test('bytes of replaced and deleted files are swept after a day', async (t) => {
    const dataDir = getFolder(t);
    await using server = await startTestServer({ store, dataDir, limits: after(DAY_MS) });
    const { api } = server;
    const { sweepBlobs } = server.server.probes;
    const path = await upload(api, 'first');
    const reading = await download(api, path);
    await upload(api, 'later');
    const deleted = await upload(api, 'deleted', { filename: 'b.txt' });
    assert.equal((await api.delete(getPath({ path: deleted }))).status, 204);
    assert.equal(blobsIn(dataDir).length, 3);
    assert.equal(await sweepBlobs(), 0);
    assert.equal(blobsIn(dataDir).length, 3, 'a reader or a backup may need them');
    await askStore(dataDir, `update files set freed_at = ${Date.now() - DAY_MS - 1} where freed_at is not null`);
    assert.equal(await sweepBlobs(), 2);
    assert.equal(blobsIn(dataDir).length, 1);
    assert.equal((await askStore(dataDir, 'select blob_key from files')).length, 1);
    assert.equal(await reading.text(), 'first');
    assert.equal(await (await download(api, path)).text(), 'later');
  });

  test('a backup leaves out files that were deleted, with or without their bytes', async (t) => {
    const dataDir = getFolder(t);
    await using server = await startTestServer({ store, dataDir });
    await upload(server.api, 'stays');
    for (const filename of ['b.txt', 'c.txt']) {
      const path = await upload(server.api, 'deleted', { filename });
      assert.equal((await server.api.delete(getPath({ path }))).status, 204);
    }
    // The sweep deletes the bytes before the row.
    const [swept] = await askStore(dataDir, 'select blob_key from files where freed_at is not null');
    const key = String(swept?.blob_key);
    rmSync(join(dataDir, 'blobs', key.slice(0, 2), key));
    const to = join(getFolder(t), 'backup');
    const { text, isWhole } = await backup({ RUNWIRE_DATA_DIR: dataDir, ...(await storeEnvironment(dataDir)) }, to);
    assert.ok(isWhole, text);
    assert.match(text, /^Backed up \d+ rows and 1 attachments and files, /);
  });

  test('a blob without a row is swept after a day, and no other', async (t) => {
    const dataDir = getFolder(t);
    await (await startTestServer({ store, dataDir }))[Symbol.asyncDispose]();
    const [old, young] = [newFileBlobKey(), newFileBlobKey()];
    for (const key of [old, young]) {
      mkdirSync(join(dataDir, 'blobs', key.slice(0, 2)), { recursive: true });
      writeFileSync(join(dataDir, 'blobs', key.slice(0, 2), key), 'lost');
    }
    const longAgo = new Date(Date.now() - 2 * DAY_MS);
    utimesSync(join(dataDir, 'blobs', old.slice(0, 2), old), longAgo, longAgo);
    await using server = await startTestServer({ store, dataDir, limits: after(DAY_MS) });
    await upload(server.api, 'used');
    const [used] = await askStore(dataDir, 'select blob_key from files');
    const key = String(used?.blob_key);
    utimesSync(join(dataDir, 'blobs', key.slice(0, 2), key), longAgo, longAgo);
    await server.server.probes.sweepBlobs();
    assert.deepEqual(blobsIn(dataDir), [key, young].sort());
  });

  test('the files of a deleted integration are deleted a day later', async (t) => {
    const dataDir = getFolder(t);
    {
      await using server = await startTestServer({ store, dataDir, limits: after(DAY_MS) });
      await server.api.post('/v2/integrations', { apiIntegrationId: 'gone' });
      for (const path of ['u/a', 'u/deep/er/b', 'v/c']) {
        await upload(server.api, path, { apiIntegrationId: 'gone', ...at(`/app/mnt/${path}`) });
      }
      await upload(server.api, 'stays');
      assert.equal((await server.api.delete('/v2/integrations/gone')).status, 204);
      assert.equal(await server.server.probes.sweepFiles(), 0);
      assert.equal((await askStore(dataDir, 'select path from files')).length, 4, 'not yet');
    }
    let failures = 1;
    const wrapStore = hookStore({
      write: (statement, write) => {
        if (statement !== 'note files deleted' || failures === 0) return write();
        failures -= 1;
        return Promise.reject(new Error('the process died'));
      },
    });
    await using server = await startTestServer({ store, dataDir, limits: after(0), wrapStore });
    const { sweepFiles, sweepBlobs } = server.server.probes;
    // The first sweep may be the start's sweep.
    await sweepFiles().catch(() => {});
    await sweepFiles();
    assert.equal(failures, 0);
    const left = await askStore(dataDir, 'select integration_id from files where freed_at is null');
    assert.deepEqual(pickColumn(left, 'integration_id'), ['demo']);
    assert.equal(await sweepFiles(), 0);
    await sweepBlobs();
    assert.equal(blobsIn(dataDir).length, 1);
    assert.deepEqual(
      (await listAll(server.api)).map(({ path }) => path),
      ['/app/mnt/u/a.txt'],
    );
  });
}
