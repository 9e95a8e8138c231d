import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3';
import { backup, migrateToPostgres, restore } from '@runwire/server';
import {
  filesOf,
  freshDatabase,
  imageAttachment,
  makeBucket,
  openTestMount,
  pngOf,
  putFile,
  s3Client,
  sharedS3,
  startTestServer,
  stopOwnS3,
  useS3Credentials,
} from '@runwire/test-kit';
import { folderOf, runwire } from './support/cli-process.ts';
import { messagesFrame } from './support/scripted-server.ts';
import { missingServices } from './support/services.ts';

/* A backup moves from the disk into a bucket and back: the commands read files only through their port. */

const missing = (await missingServices(['s3', 'postgres'])).join('\n');
const skip = missing === '' ? false : missing;
after(() => stopOwnS3());

async function say(env: Readonly<Record<string, string>>, dataDir: string, more = {}): Promise<string> {
  await using server = await startTestServer({ dataDir, env });
  const reader = await server.api.complete({ chatId: 'seen', ...more });
  await reader.whole();
  return messagesFrame(reader).status;
}

test('a backup moves images and files from the disk into a bucket and back', { skip }, async (t) => {
  const access = await sharedS3();
  useS3Credentials(access);
  const s3 = { S3_BUCKET: await makeBucket(access), S3_ENDPOINT: access.endpoint, AWS_REGION: access.region };
  const source = { RUNWIRE_DATA_DIR: folderOf(t), DATABASE_URL: '' };
  assert.equal(await say(source, source.RUNWIRE_DATA_DIR, { attachments: [imageAttachment(pngOf(200))] }), 'completed');
  const mount = await openTestMount(source.RUNWIRE_DATA_DIR);
  for (let n = 0; n < 10; n += 1)
    await putFile(mount, 'demo', `f ${n}/ä`, Buffer.alloc(n * 100_000, `${n}`), `text/x${n}`);
  await putFile(mount, 'demo', 'empty', '');
  const folder = folderOf(t);
  await backup(source, join(folder, 'of-disk'));

  const inBucket = { RUNWIRE_DATA_DIR: folderOf(t), DATABASE_URL: '', ...s3 };
  const { text: said } = await restore(inBucket, join(folder, 'of-disk'));
  assert.match(said, /^Restored \d+ rows, 1 images and 11 files, /);
  assert.match(said, new RegExp(`^The images and files are in the bucket ${s3.S3_BUCKET}\\.$`, 'm'));
  assert.equal(await say(inBucket, inBucket.RUNWIRE_DATA_DIR), 'completed', 'its chat goes on with its image');
  const onDisk = { ...inBucket, S3_BUCKET: '', S3_ENDPOINT: '' };
  await assert.rejects(backup(onDisk, join(folder, 'x')), /^StartRefused: S3_BUCKET is not set, but this installation/);
  await assert.rejects(backup({ ...source, ...s3 }, join(folder, 'x')), /^StartRefused: S3_BUCKET is set, but this/);

  assert.match((await backup(inBucket, join(folder, 'of-s3'))).text, /^Backed up \d+ rows, 1 images and 11 files, /);
  const back = { RUNWIRE_DATA_DIR: folderOf(t), DATABASE_URL: '' };
  assert.match((await restore(back, join(folder, 'of-s3'))).text, /^Restored \d+ rows, 1 images and 11 files, /);
  assert.deepEqual(await filesOf(await openTestMount(back.RUNWIRE_DATA_DIR), 'demo'), await filesOf(mount, 'demo'));
  assert.equal(await say(back, back.RUNWIRE_DATA_DIR), 'completed');

  // The restore is killed in the middle. The next one begins under its own mark, and reports what may have to be
  // deleted.
  const begun = 'ab'.repeat(16);
  const again = { RUNWIRE_DATA_DIR: folderOf(t), DATABASE_URL: '', ...s3 };
  mkdirSync(join(again.RUNWIRE_DATA_DIR, 'blobs'));
  writeFileSync(join(again.RUNWIRE_DATA_DIR, 'blobs/restoring'), `${begun}\n`);
  assert.match(
    (await restore(again, join(folder, 'of-s3'))).text,
    new RegExp(`may have left objects .* under ${begun}/: delete`),
  );
  assert.equal(await say(again, again.RUNWIRE_DATA_DIR), 'completed');

  await using database = await freshDatabase();
  const moved = { ...inBucket, DATABASE_URL: database.url };
  assert.match(await migrateToPostgres(moved), /^Images and files stay in the bucket \S+: start all servers /m);
  const env = { ...moved, RUNWIRE_SHARED_DISK: '' };
  await using first = await startTestServer({ dataDir: moved.RUNWIRE_DATA_DIR, env });
  await using second = await startTestServer({ dataDir: folderOf(t), env: { ...env, RUNWIRE_DATA_DIR: folderOf(t) } });
  assert.equal((await first.api.get('/v2/nodes')).body.items.filter(isAlive).length, 2, 'no shared disk is needed');
  const reader = await second.api.complete({ chatId: 'seen' });
  await reader.whole();
  assert.equal(messagesFrame(reader).status, 'completed');
});

const isAlive = ({ state }: { state: string }) => state === 'alive';

test('a restore of a file and a folder of one name places one, names the other', { skip }, async (t) => {
  const access = await sharedS3();
  useS3Credentials(access);
  const Bucket = await makeBucket(access);
  const source = { RUNWIRE_DATA_DIR: folderOf(t), DATABASE_URL: '' };
  const s3 = { S3_BUCKET: Bucket, S3_ENDPOINT: access.endpoint, AWS_REGION: access.region };
  await (await startTestServer({ dataDir: source.RUNWIRE_DATA_DIR, env: { ...source, ...s3 } }))[Symbol.asyncDispose]();
  const client = await s3Client(access);
  const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket }));
  const mark = Contents[0]?.Key?.split('/')[0];
  for (const path of ['a', 'a/b', 'c']) {
    await client.send(new PutObjectCommand({ Bucket, Key: `${mark}/mounts/demo/${path}`, Body: path }));
  }
  client.destroy();
  const from = join(folderOf(t), 'backup');
  assert.match((await backup({ ...source, ...s3 }, from)).text, /^Backed up \d+ rows, 0 images and 3 files, /);
  const target = folderOf(t);
  const done = await runwire(['restore', '--from', from], { env: { RUNWIRE_DATA_DIR: target, DATABASE_URL: '' } });
  assert.deepEqual([done.code, done.stderr], [3, '']);
  assert.match(done.stdout, /^Restored \d+ rows, 0 images and 2 files, /);
  assert.match(done.stdout, /^Files that could not be written [^\n]+: 1\. [^\n]+; the first:$/m);
  assert.match(done.stdout, /^ {2}demo: a(\/b)? \(a file and a folder have one name\)$/m);
  assert.equal((await filesOf(await openTestMount(target), 'demo')).size, 2);
});
