import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { backup, migrateToPostgres, restore } from '@runwire/server';
import {
  freshDatabase,
  imageAttachment,
  makeBucket,
  makePng,
  sharedS3,
  startTestServer,
  stopOwnS3,
  type TestServer,
  useS3Credentials,
} from '@runwire/test-kit';
import { getFolder } from './support/cli-process.ts';
import { messagesFrame } from './support/scripted-server.ts';
import { missingServices } from './support/services.ts';
import { at, downloadAll, upload } from './support/uploads.ts';

/* A backup moves from the disk into a bucket and back: the commands read files only through their port. */

const missing = (await missingServices(['s3', 'postgres'])).join('\n');
const skip = missing === '' ? false : missing;
after(() => stopOwnS3());

type Env = Readonly<Record<string, string>> & { readonly RUNWIRE_DATA_DIR: string };

async function withServer<T>(env: Env, work: (server: TestServer) => Promise<T>): Promise<T> {
  await using server = await startTestServer({ dataDir: env.RUNWIRE_DATA_DIR, env });
  return await work(server);
}

const say = (env: Env, more = {}): Promise<string> =>
  withServer(env, async ({ api }) => {
    const reader = await api.complete({ chatId: 'seen', ...more });
    await reader.whole();
    return messagesFrame(reader).status;
  });

test('a backup moves images and files from the disk into a bucket and back', { skip }, async (t) => {
  const access = await sharedS3();
  useS3Credentials(access);
  const s3 = { S3_BUCKET: await makeBucket(access), S3_ENDPOINT: access.endpoint, AWS_REGION: access.region };
  const source = { RUNWIRE_DATA_DIR: getFolder(t), DATABASE_URL: '' };
  assert.equal(await say(source, { attachments: [imageAttachment(makePng(200))] }), 'completed');
  const files = await withServer(source, async ({ api }) => {
    for (let n = 1; n <= 10; n += 1) {
      const options = { ...at(`/app/mnt/f ${n}/ä`), contentType: `text/x${n}` };
      await upload(api, Buffer.alloc(n * 100_000, `${n}`), options);
    }
    return await downloadAll(api);
  });
  assert.equal(files.size, 10);
  const folder = getFolder(t);
  await backup(source, join(folder, 'of-disk'));

  const inBucket = { RUNWIRE_DATA_DIR: getFolder(t), DATABASE_URL: '', ...s3 };
  const { text: said } = await restore(inBucket, join(folder, 'of-disk'));
  assert.match(said, /^Restored \d+ rows and 11 attachments and files, /);
  assert.match(said, new RegExp(`^The attachments and files are in the bucket ${s3.S3_BUCKET}\\.$`, 'm'));
  assert.equal(await say(inBucket), 'completed', 'its chat goes on with its image');
  const onDisk = { ...inBucket, S3_BUCKET: '', S3_ENDPOINT: '' };
  await assert.rejects(backup(onDisk, join(folder, 'x')), /^StartRefused: S3_BUCKET is not set, but this installation/);
  await assert.rejects(backup({ ...source, ...s3 }, join(folder, 'x')), /^StartRefused: S3_BUCKET is set, but this/);

  assert.match(
    (await backup(inBucket, join(folder, 'of-s3'))).text,
    /^Backed up \d+ rows and 11 attachments and files, /,
  );
  const back = { RUNWIRE_DATA_DIR: getFolder(t), DATABASE_URL: '' };
  assert.match((await restore(back, join(folder, 'of-s3'))).text, /^Restored \d+ rows and 11 attachments and files, /);
  for (const place of [inBucket, back]) {
    assert.deepEqual(await withServer(place, ({ api }) => downloadAll(api)), files);
  }
  assert.equal(await say(back), 'completed');

  // The restore is killed in the middle. The next one begins under its own mark, and reports what may have to be
  // deleted.
  const begun = 'ab'.repeat(16);
  const again = { RUNWIRE_DATA_DIR: getFolder(t), DATABASE_URL: '', ...s3 };
  mkdirSync(join(again.RUNWIRE_DATA_DIR, 'blobs'));
  writeFileSync(join(again.RUNWIRE_DATA_DIR, 'blobs/restoring'), `${begun}\n`);
  assert.match(
    (await restore(again, join(folder, 'of-s3'))).text,
    new RegExp(`may have left objects .* under ${begun}/: delete`),
  );
  assert.equal(await say(again), 'completed');

  await using database = await freshDatabase();
  const moved = { ...inBucket, DATABASE_URL: database.url };
  assert.match(await migrateToPostgres(moved), /^Images and files stay in the bucket \S+: start all servers /m);
  await using first = await startTestServer({ dataDir: moved.RUNWIRE_DATA_DIR, env: moved });
  await using second = await startTestServer({
    dataDir: getFolder(t),
    env: { ...moved, RUNWIRE_DATA_DIR: getFolder(t) },
  });
  assert.equal((await first.api.get('/v2/nodes')).body.items.filter(isAlive).length, 2, 'no shared disk is needed');
  const reader = await second.api.complete({ chatId: 'seen' });
  await reader.whole();
  assert.equal(messagesFrame(reader).status, 'completed');
});

const isAlive = ({ state }: { state: string }) => state === 'alive';
