import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { after, test } from 'node:test';
import { DeleteObjectCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3';
import {
  freshDatabase,
  fullTest,
  imageAttachment,
  makeBucket,
  makePng,
  type S3Access,
  s3Client,
  s3Settings,
  sharedS3,
  startTestServer,
  stopOwnPostgres,
  stopOwnS3,
  temporaryFolder,
} from '@runwire/test-kit';
import { Relay } from '@runwire/test-kit/relay.ts';
import { cites } from '../requirements/cite.ts';
import { CliServer, getFolder, runwire } from './support/cli-process.ts';
import { missingService } from './support/services.ts';
import { sendForm, signing, upload } from './support/uploads.ts';

const skip = (await missingService('s3')) ?? false;
const noPostgres = (await missingService('postgres')) ?? skip;
after(() => Promise.all([stopOwnS3(), stopOwnPostgres()]));

async function keysIn(access: S3Access, Bucket: string): Promise<string[]> {
  const client = await s3Client(access);
  const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket }));
  client.destroy();
  return Contents.map(({ Key = '' }) => Key);
}

test('forms are posted to S3, or through this server with S3_UPLOADS=through', { skip }, async (t) => {
  cites(t, 'contract-1-s3', 'contract-7-s3-uploads', 'contract-7-s3-same-answer');
  const access = await sharedS3();
  for (const uploads of ['direct', 'through']) {
    const env = await s3Settings(access, { S3_UPLOADS: uploads });
    await using server = await startTestServer({ env });
    const { body: form } = await server.api.post('/create_agency_upload', signing(5, { filename: 'é 1.txt' }));
    const direct = `${access.endpoint}/${env.S3_BUCKET}`;
    assert.equal(form.uploadUrl, uploads === 'direct' ? direct : `${server.url}/uploads/demo`);
    const { headers } = await fetch(`${server.url}/console/`);
    const connect = /connect-src ([^;]*)/.exec(headers.get('content-security-policy') ?? '')?.[1];
    assert.equal(
      connect,
      uploads === 'direct' ? `'self' ${new URL(direct).origin}` : "'self'",
      'the console may upload',
    );
    assert.equal(await sendForm(form, Buffer.from('hello')), 204);
    assert.ok((await sendForm(form, Buffer.from('hello!'))) >= 400, 'one byte more');
    const { body: page } = await server.api.get('/v2/integrations/demo/files?folder=/app/mnt/u');
    const [{ modifiedAt, ...item }] = page.items;
    assert.ok(Math.abs(Date.parse(modifiedAt) - Date.now()) < 60_000);
    assert.deepEqual(item, {
      name: 'é 1.txt',
      path: '/app/mnt/u/é 1.txt',
      kind: 'file',
      size: 5,
      etag: '"5d41402abc4b2a76b9719d911017c592"',
      contentType: 'text/plain',
    });
    const path = encodeURIComponent(item.path);
    const answer = await fetch(`${server.url}/v2/integrations/demo/files/content?path=${path}`, {
      headers: { ...server.api.authorization, Range: 'bytes=1-3' },
    });
    assert.deepEqual([answer.status, await answer.text()], [206, 'ell']);
    const objects = (await keysIn(access, env.S3_BUCKET)).map((key) => key.replace(/^[0-9a-f]{32}/, 'mark'));
    assert.equal(objects.length, 2, 'the drop was settled');
    assert.match(objects.join(), /^mark\/blobs\/[0-9a-f]{48},mark\/installation$/);
  }
});

test('images in the bucket survive a restart and are swept', { skip }, async (t) => {
  const access = await sharedS3();
  const env = await s3Settings(access);
  const dataDir = temporaryFolder();
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const isBlob = (key: string) => key.includes('/blobs/');
  const options = { dataDir, env, limits: { unusedBlobMs: 0, sweepMs: 3_600_000 } };
  {
    await using server = await startTestServer(options);
    await server.server.probes.sweepBlobs();
    const attachments = [imageAttachment(makePng(3000))];
    await (await server.api.complete({ chatId: 'c', message: 'Look', attachments })).whole();
    assert.equal((await keysIn(access, env.S3_BUCKET)).filter(isBlob).length, 1);
  }
  await using server = await startTestServer(options);
  const reader = await server.api.complete({ chatId: 'c', message: 'Again' });
  await reader.whole();
  assert.match(reader.answer, /You said: Again/);
  await server.api.delete('/v2/integrations/demo/chats/c');
  await server.server.probes.sweepBlobs();
  assert.deepEqual((await keysIn(access, env.S3_BUCKET)).filter(isBlob), []);
});

test('two installations in one bucket neither see nor sweep each other', { skip }, async () => {
  const access = await sharedS3();
  const env = await s3Settings(access);
  const limits = { unusedBlobMs: 0, sweepMs: 3_600_000 };
  await using one = await startTestServer({ env, limits });
  await using other = await startTestServer({ env, limits });
  await upload(one.api, 'of one');
  await (await one.api.complete({ message: 'Look', attachments: [imageAttachment(makePng(3000))] })).whole();
  await other.server.probes.sweepBlobs();
  const { body } = await other.api.get('/v2/integrations/demo/files');
  assert.deepEqual(body.items, []);
  const keys = await keysIn(access, env.S3_BUCKET);
  assert.deepEqual(keys.map((key) => key.split('/')[1]).sort(), ['blobs', 'drops', 'installation', 'installation']);
});

/** The start is refused with one sentence. */
async function refusedStart(env: Readonly<Record<string, string>>, about: RegExp): Promise<void> {
  const { code, stdout, stderr } = await runwire(['serve'], { env: { PORT: '0', ...env } });
  assert.deepEqual([code, stdout], [1, ''], stderr);
  assert.match(stderr, about);
  assert.match(stderr, /^[^\n]+[.]\n$/, 'one line');
  assert.ok(!stderr.includes(env.AWS_SECRET_ACCESS_KEY || 'a secret'), 'no secret is printed');
}

fullTest('an unusable bucket, credential or address refuses the start', { skip }, async (t) => {
  const access = await sharedS3();
  const good = await s3Settings(access);
  const RUNWIRE_DATA_DIR = getFolder(t);
  const cases: readonly (readonly [Record<string, string>, RegExp])[] = [
    [
      { S3_BUCKET: 'not-there-at-all' },
      /^The bucket not-there-at-all of S3_BUCKET does not exist .*; create it, or set/,
    ],
    [{ S3_ENDPOINT: 'http://127.0.0.1:1' }, /^S3 at http:\/\/127\.0\.0\.1:1 cannot be used now .*fix S3_ENDPOINT/],
  ];
  for (const [settings, about] of cases) {
    const start = startTestServer({ dataDir: getFolder(t), env: { ...good, ...settings } });
    await assert.rejects(start, ({ name, message }: Error) => name === 'StartRefused' && about.test(message));
  }
  // In processes of their own, because this test's process has credentials.
  const credentials: typeof cases = [
    [{ AWS_ACCESS_KEY_ID: 'nobody' }, /does not allow these credentials .*InvalidAccessKeyId.*fix AWS_ACCESS_KEY_ID/],
    [{ AWS_SECRET_ACCESS_KEY: 'wrong' }, /does not allow these credentials .*SignatureDoesNotMatch.*fix AWS_ACCESS/],
    [{ AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' }, /no credentials .*set AWS_ACCESS_KEY_ID/],
  ];
  await Promise.all(
    credentials.map(([settings, about]) =>
      refusedStart({ ...good, RUNWIRE_DATA_DIR: getFolder(t), ...settings }, about),
    ),
  );
  await using server = await CliServer.start({ env: { ...good, RUNWIRE_DATA_DIR } });
  const place = `Files: in the bucket ${good.S3_BUCKET} at ${access.endpoint}; uploads go there directly`;
  assert.ok(server.stdout.includes(`\n${place}\n`), server.stdout);
});

for (const store of ['sqlite', 'postgres'] as const) {
  test(`files are in one kind of place from the first start on, and in one bucket (${store})`, {
    skip: store === 'sqlite' ? skip : noPostgres,
  }, async (t) => {
    const access = await sharedS3();
    await using stack = new AsyncDisposableStack();
    const database = async (): Promise<Record<string, string>> =>
      store === 'sqlite' ? {} : { DATABASE_URL: stack.use(await freshDatabase()).url };
    const env = await s3Settings(access);
    const start = async (settings: Record<string, string>) => {
      const dataDir = settings.RUNWIRE_DATA_DIR ?? '';
      await using _ = await startTestServer({ dataDir, env: settings });
    };
    const onS3 = { ...env, ...(await database()), RUNWIRE_DATA_DIR: getFolder(t) };
    await start(onS3);
    await start(onS3);
    const { S3_BUCKET: _bucket, S3_ENDPOINT: _endpoint, ...without } = onS3;
    const other = { ...onS3, S3_BUCKET: await makeBucket(access) };
    const onDisk = { ...(await database()), RUNWIRE_DATA_DIR: getFolder(t) };
    await start(onDisk);
    await assert.rejects(start(without), /^StartRefused: S3_BUCKET is not set, but this installation keeps .* in S3;/);
    await assert.rejects(start(other), /^StartRefused: The bucket \S+ of S3_BUCKET is not the one in which/);
    await assert.rejects(start({ ...env, ...onDisk }), /^StartRefused: S3_BUCKET is set, but .* on the disk;/);
    const client = await s3Client(access);
    const [mark = ''] = await keysIn(access, env.S3_BUCKET);
    await client.send(new DeleteObjectCommand({ Bucket: env.S3_BUCKET, Key: mark }));
    client.destroy();
    await assert.rejects(start(onS3), /^StartRefused: The bucket \S+ of S3_BUCKET is not the one in which/);
  });
}

test('servers that first start at the same moment on one database use one mark', { skip: noPostgres }, async (t) => {
  const access = await sharedS3();
  const env = await s3Settings(access);
  await using database = await freshDatabase();
  const starts = Array.from({ length: 3 }, () =>
    startTestServer({ dataDir: getFolder(t), env: { ...env, DATABASE_URL: database.url } }),
  );
  await using stack = new AsyncDisposableStack();
  for (const start of starts) stack.use(await start);
  assert.equal((await keysIn(access, env.S3_BUCKET)).filter((key) => key.endsWith('/installation')).length, 1);
});

test('files under the keys of an earlier version refuse the start', { skip }, async (t) => {
  const access = await sharedS3();
  const options = { dataDir: getFolder(t), env: await s3Settings(access) };
  await (await startTestServer(options))[Symbol.asyncDispose]();
  const [mark = ''] = (await keysIn(access, options.env.S3_BUCKET)).map((key) => key.split('/')[0]);
  const client = await s3Client(access);
  const old = { Bucket: options.env.S3_BUCKET, Key: `${mark}/mounts/demo/u/a.txt` };
  await client.send(new PutObjectCommand({ ...old, Body: 'a' }));
  await assert.rejects(startTestServer(options), {
    name: 'StartRefused',
    message: /^The bucket \S+ has files of an earlier version \(under \S+\/mounts\/\), which [^\n]+, or delete them\.$/,
  });
  await client.send(new DeleteObjectCommand(old));
  client.destroy();
  await (await startTestServer(options))[Symbol.asyncDispose]();
});

test('images and uploads are refused during an outage of the bucket', { skip }, async () => {
  const access = await sharedS3();
  await using relay = await Relay.start(access.endpoint);
  const env = { ...(await s3Settings(access)), S3_ENDPOINT: relay.url, S3_UPLOADS: 'through' };
  // On a busy machine the bucket needs seconds for a request after the outage.
  const limits = { s3SilenceMs: 3000, s3RequestMs: 6000, s3TransferMs: 6000 };
  await using server = await startTestServer({ env, limits });
  const { body: form } = await server.api.post('/create_agency_upload', signing(5));
  const image = { message: 'Look', attachments: [imageAttachment(makePng(3000))] };
  relay.cut();
  const away = [
    server.api.post('/get_completion_v2', { apiIntegrationId: 'demo', ...image }).then(({ status }) => status),
    sendForm(form, Buffer.from('hello')),
    server.api.get('/v2/integrations/demo/files').then(({ status }) => status),
  ];
  assert.deepEqual(await Promise.all(away), [503, 503, 200]);
  assert.equal((await fetch(`${server.url}/readyz`)).status, 200, 'text goes on');
  relay.mend();
  assert.equal(await sendForm(form, Buffer.from('hello')), 204);
  const reader = await server.api.complete(image);
  await reader.whole();
  assert.match(reader.answer, /You said: Look/);
});
