import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import { backup, restore } from '@runwire/server';
import {
  type S3Access,
  STORES,
  type StoreName,
  s3Client,
  s3Settings,
  sharedS3,
  startTestServer,
  stopOwnS3,
  storeEnvironment,
} from '@runwire/test-kit';
import { KmsRelay } from '@runwire/test-kit/kms-relay.ts';
import pino from 'pino';
import { cites } from '../requirements/cite.ts';
import { askStore } from './support/ask-store.ts';
import { getFolder } from './support/cli-process.ts';
import { eventually } from './support/eventually.ts';
import { missingService } from './support/services.ts';
import { at, download, listAll, type SignedForm, sendForm, sign, signing } from './support/uploads.ts';

/* Uploads that S3 receives itself (`S3_UPLOADS=direct`). */

const skip = (await missingService('s3')) ?? false;
after(() => stopOwnS3());
const PATH = '/app/mnt/u/a.txt';
const getPath = (path: string) => `/v2/integrations/demo/files?${new URLSearchParams({ path })}`;

for (const store of STORES) describe(store, { skip }, () => tests(store));

function tests(store: StoreName): void {
  async function start(at?: S3Access) {
    const access = at ?? (await sharedS3());
    const env = await s3Settings(access, { S3_UPLOADS: 'direct' });
    const logged: string[] = [];
    const logger = pino({ level: 'warn' }, { write: (line: string) => void logged.push(line) });
    const limits = { unusedBlobMs: 0, sweepMs: 3_600_000 };
    const server = await startTestServer({ store, env, limits, logger });
    await server.server.probes.sweepFiles();
    /** Lists the times of the objects below a part of the installation, in whole seconds as the server reads them. */
    const objects = async (part: string) => {
      const client = await s3Client(access);
      const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: env.S3_BUCKET }));
      client.destroy();
      return Contents.filter(({ Key = '' }) => Key.includes(`/${part}/`)).map(
        ({ LastModified }) => Math.floor(Number(LastModified) / 1000) * 1000,
      );
    };
    const send = async (form: SignedForm, text: string) => {
      assert.equal(await sendForm(form, Buffer.from(text)), 204);
    };
    const ask = (statement: string) => askStore(server.dataDir, statement);
    const settings = { ...env, RUNWIRE_DATA_DIR: server.dataDir, ...(await storeEnvironment(server.dataDir, store)) };
    const dispose = () => server[Symbol.asyncDispose]();
    return {
      settings,
      api: server.api,
      probes: server.server.probes,
      logged,
      objects,
      send,
      ask,
      [Symbol.asyncDispose]: dispose,
    };
  }

  test('list, read, sign, delete and sandbox files settle what S3 received', async (t) => {
    cites(t, 'contract-7-drops', 'contract-21-upload');
    await using rig = await start();
    const { api } = rig;
    const webhooks = '/v2/integrations/demo/webhooks';
    const { endpointId } = (await api.post(webhooks, { url: null, events: ['upload.completed'] })).body;
    const countEvents = async () => (await api.get(`${webhooks}/${endpointId}/deliveries`)).body.items.length;
    const operations: readonly (() => Promise<unknown>)[] = [
      async () =>
        assert.deepEqual(
          (await listAll(api)).map(({ path }) => path),
          [PATH],
        ),
      async () => assert.equal(await (await download(api, PATH)).text(), 'hello'),
      async () => {
        const beneath = signing(1, { folder: PATH, filename: 'below' });
        assert.equal((await api.post('/create_agency_upload', beneath)).body.code, 'file_exists_as_folder');
      },
      async () => {
        const reader = await api.complete({ sandboxFiles: [{ name: 'a.txt', path: PATH }] });
        await reader.whole();
        assert.equal(reader.status, 200);
      },
      async () => assert.equal((await api.delete(getPath(PATH))).status, 204),
    ];
    for (const operation of operations) {
      await rig.send(await sign(api, 5), 'hello');
      assert.equal((await rig.objects('drops')).length, 1);
      const before = await countEvents();
      await operation();
      assert.deepEqual(await rig.objects('drops'), []);
      assert.equal(await countEvents(), before + 1);
    }
    assert.deepEqual(await listAll(api), []);
    await rig.probes.sweepBlobs();
    assert.deepEqual(await rig.objects('blobs'), []);
  });

  test('of two forms for one path the later upload counts, then the later form', async (t) => {
    cites(t, 'contract-7-drops');
    await using rig = await start();
    const { api } = rig;
    const [first, second, third, fourth] = [
      await sign(api, 5),
      await sign(api, 6),
      await sign(api, 5),
      await sign(api, 6),
    ];
    const text = async () => (await download(api, PATH)).text();
    await rig.send(second, 'second');
    // S3 may tell times in whole seconds.
    await sleep(1100);
    await rig.send(first, 'first');
    assert.equal(await text(), 'first', 'sent later, signed earlier');
    await rig.ask('update files set modified_at = modified_at + 60000');
    await rig.send(second, 'second');
    assert.equal(await text(), 'first', 'older than the file');
    assert.deepEqual(await rig.objects('drops'), []);
    // The file gets the next drop's time, as if both had arrived in the same second.
    await rig.send(fourth, 'fourth');
    await rig.ask(`update files set modified_at = ${(await rig.objects('drops'))[0]}`);
    assert.equal(await text(), 'fourth', 'its form was signed later');
    await rig.send(third, 'third');
    await rig.ask(`update files set modified_at = ${(await rig.objects('drops'))[0]}`);
    assert.equal(await text(), 'fourth', 'its form was signed earlier');
    assert.equal((await listAll(api)).length, 1);
  });

  test('an upload whose path has become a folder is deleted and logged', async (t) => {
    cites(t, 'contract-7-drops');
    await using rig = await start();
    const { api } = rig;
    await rig.send(await sign(api, 3, at('/app/mnt/u/other')), 'one');
    assert.equal((await listAll(api)).length, 1);
    await rig.send(await sign(api, 5), 'hello');
    await rig.ask(`update files set path = '\u0001u\u0001a.txt\u0001below'`);
    assert.deepEqual(
      (await listAll(api)).map(({ path }) => path),
      [`${PATH}/below`],
    );
    assert.match(rig.logged.join(''), /an upload was dropped: its path is taken/);
    assert.deepEqual(await rig.objects('drops'), []);
    await rig.probes.sweepBlobs();
    assert.equal((await rig.objects('blobs')).length, 1);
  });

  test('an unused form leaves nothing, and an upload that is too late is swept', async () => {
    await using rig = await start();
    const { api } = rig;
    const age = (minutes: number) => rig.ask(`update upload_forms set signed_at = ${Date.now() - minutes * 60_000}`);
    await sign(api, 5);
    await age(22);
    assert.equal(await rig.probes.sweepFiles(), 1);
    assert.deepEqual(await rig.ask('select form_id from upload_forms'), []);
    await rig.send(await sign(api, 5), 'hello');
    await age(22);
    assert.deepEqual(await listAll(api), [], 'it arrived more than 20 minutes after it was signed');
    assert.equal((await rig.objects('drops')).length, 1);
    assert.equal(await rig.probes.sweepFiles(), 2, 'the form and the object');
    assert.deepEqual([...(await rig.objects('drops')), ...(await rig.objects('blobs'))], []);
  });

  test('the erasure of a person deletes published, unpublished and later uploads', async (t) => {
    cites(t, 'contract-6-erasure-files', 'contract-7-drops');
    await using rig = await start();
    const { api } = rig;
    const ann = '/v2/integrations/demo/members/ann';
    const { folder } = (await api.put(ann, {})).body;
    const [published, waiting, late] = [
      await sign(api, 5, { folder, filename: 'published.txt' }),
      await sign(api, 5, { folder, filename: 'waiting.txt' }),
      await sign(api, 5, { folder, filename: 'late.txt' }),
    ];
    const other = await sign(api, 5);
    await rig.send(published, 'first');
    assert.equal((await listAll(api)).length, 1);
    await rig.send(waiting, 'hello');
    await rig.send(other, 'other');
    assert.deepEqual([(await rig.objects('drops')).length, (await rig.objects('blobs')).length], [2, 1]);

    assert.equal((await api.delete(`${ann}?erase=true`)).status, 202);
    await eventually('the member is erased', async () => (await api.get(`${ann}/erasure`)).body.status === 'erased');
    const onlyOther = async () => {
      assert.deepEqual(
        (await listAll(api)).map(({ path }) => path),
        [PATH],
      );
      assert.deepEqual([(await rig.objects('drops')).length, (await rig.objects('blobs')).length], [0, 1]);
    };
    await onlyOther();
    // S3 still accepts the form, and the server publishes nothing.
    await rig.send(late, 'later');
    await rig.send(published, 'again');
    await onlyOther();
    // The id can be used again, with new forms.
    await api.put(ann, {});
    await rig.send(await sign(api, 3, { folder, filename: 'late.txt' }), 'new');
    assert.equal(await (await download(api, `${folder}/late.txt`)).text(), 'new');
  });

  test('an unpublished upload is enough to erase a person', async (t) => {
    cites(t, 'contract-6-erasure-again', 'contract-6-erasure-files');
    await using rig = await start();
    const { api } = rig;
    const ann = '/v2/integrations/demo/members/ann';
    const { folder } = (await api.put(ann, {})).body;
    await rig.send(await sign(api, 5, { folder, filename: 'waiting.txt' }), 'hello');
    assert.equal((await api.delete(ann)).status, 204);
    assert.equal((await api.delete(`${ann}?erase=true`)).status, 202);
    await eventually('the member is erased', async () => (await api.get(`${ann}/erasure`)).body.status === 'erased');
    assert.deepEqual([...(await rig.objects('drops')), ...(await rig.objects('blobs'))], []);
  });

  test('an upload that S3 received is published after a change to `through`', async (t) => {
    cites(t, 'contract-7-drops');
    const dataDir = getFolder(t);
    const env = await s3Settings(await sharedS3(), { S3_UPLOADS: 'direct' });
    {
      await using server = await startTestServer({ store, env, dataDir });
      assert.equal(await sendForm(await sign(server.api, 5), Buffer.from('hello')), 204);
    }
    await using server = await startTestServer({ store, env: { ...env, S3_UPLOADS: 'through' }, dataDir });
    assert.equal(await (await download(server.api, PATH)).text(), 'hello');
  });

  test('a backup contains an upload that no server has published', async (t) => {
    cites(t, 'contract-7-drops');
    await using rig = await start();
    await rig.send(await sign(rig.api, 5), 'hello');
    const folder = join(getFolder(t), 'backup');
    assert.equal((await backup(rig.settings, folder)).isWhole, true);
    assert.deepEqual(await rig.objects('drops'), []);
    assert.equal(await (await download(rig.api, PATH)).text(), 'hello');
    const dataDir = getFolder(t);
    await restore({ RUNWIRE_DATA_DIR: dataDir }, folder);
    await using restored = await startTestServer({ dataDir });
    assert.equal(await (await download(restored.api, PATH)).text(), 'hello');
  });

  test('the etag is the MD5 and a backup is whole if S3 encrypts with SSE-KMS', async (t) => {
    cites(t, 'contract-7-etag');
    const access = await sharedS3();
    await using relay = await KmsRelay.start(access);
    await using rig = await start({ ...access, endpoint: relay.url });
    await rig.send(await sign(rig.api, 5), 'hello');
    const md5 = hash('md5', 'hello');
    assert.deepEqual(
      (await listAll(rig.api)).map(({ etag }) => etag),
      [`"${md5}"`],
    );
    assert.deepEqual(await rig.objects('drops'), []);
    const { text, isWhole } = await backup(rig.settings, join(getFolder(t), 'backup'));
    assert.ok(isWhole, text);
  });
}
