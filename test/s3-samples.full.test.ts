import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeBucket, s3Client, sharedS3, stopOwnS3 } from '@runwire/test-kit';
import { root } from './support/cli-process.ts';
import { missingService } from './support/services.ts';

const skip = (await missingService('s3')) ?? false;

interface Statement {
  readonly Effect: string;
  readonly Action: readonly string[];
  readonly Resource: string;
}

const samples = [...readFileSync(join(root, 'docs/s3.md'), 'utf8').matchAll(/^```json\n([\s\S]*?)^```$/gm)].map(
  ([, text = '']) => JSON.parse(text),
);
const [cors, policy, lifecycle] = samples as [
  unknown[],
  { Version: string; Statement: Statement[] },
  { Rules: never[] },
];

test('the bucket of docs/s3.md accepts posts of other origins and its rules', { skip }, async (t) => {
  t.after(stopOwnS3);
  const s3 = await sharedS3();
  const bucket = await makeBucket(s3);
  const { PutBucketCorsCommand, PutBucketLifecycleConfigurationCommand } = await import('@aws-sdk/client-s3');
  const client = await s3Client(s3);
  t.after(() => client.destroy());
  const preflight = () =>
    fetch(`${s3.endpoint}/${bucket}`, {
      method: 'OPTIONS',
      headers: { origin: 'https://app.example.com', 'access-control-request-method': 'POST' },
    });
  assert.equal((await preflight()).headers.get('access-control-allow-origin'), null, 'not without them');
  const CORSRules = cors as never[];
  await client.send(new PutBucketCorsCommand({ Bucket: bucket, CORSConfiguration: { CORSRules } }));
  const { status, headers } = await preflight();
  assert.equal(status, 200);
  assert.match(headers.get('access-control-allow-origin') ?? '', /^(\*|https:\/\/app\.example\.com)$/);
  assert.match(headers.get('access-control-allow-methods') ?? '', /POST/);
  await client.send(new PutBucketLifecycleConfigurationCommand({ Bucket: bucket, LifecycleConfiguration: lifecycle }));
});

test('the policy of docs/s3.md allows exactly the requests of the server', { skip }, async (t) => {
  t.after(stopOwnS3);
  // The permissions that Amazon demands for each command.
  const needed: Readonly<Record<string, readonly string[]>> = {
    PutObject: ['s3:PutObject'],
    HeadObject: ['s3:GetObject'],
    GetObject: ['s3:GetObject'],
    CopyObject: ['s3:GetObject', 's3:PutObject'],
    DeleteObject: ['s3:DeleteObject'],
    ListObjectsV2: ['s3:ListBucket'],
    AbortMultipartUpload: ['s3:AbortMultipartUpload'],
    ListMultipartUploads: ['s3:ListBucketMultipartUploads'],
  };
  const source = readFileSync(join(root, 'packages/server/src/storage/s3/s3-bucket.ts'), 'utf8');
  const sent = [...source.matchAll(/new this\.#sdk\.(\w+)Command\(/g)].flatMap(
    ([, command = '']) => needed[command] ?? [`unknown: ${command}`],
  );
  assert.ok(sent.length >= 6);
  const allowed = policy.Statement.flatMap(({ Action }) => Action);
  assert.deepEqual(allowed.toSorted(), [...new Set(sent)].toSorted());

  // On a real gateway the permissions are the bucket's own policy, for requests without a signature.
  const s3 = await sharedS3();
  const bucket = await makeBucket(s3);
  const { PutBucketPolicyCommand } = await import('@aws-sdk/client-s3');
  const client = await s3Client(s3);
  t.after(() => client.destroy());
  const url = `${s3.endpoint}/${bucket}`;
  const ask = async (method: string, path: string) =>
    (await fetch(url + path, { method, body: method === 'PUT' ? 'a' : null })).status;
  assert.equal(await ask('PUT', '/a.txt'), 403, 'not without it');
  const Statement = policy.Statement.map((one) => ({
    ...one,
    Principal: { AWS: ['*'] },
    Resource: one.Resource.replace('my-bucket', bucket),
  }));
  await client.send(new PutBucketPolicyCommand({ Bucket: bucket, Policy: JSON.stringify({ ...policy, Statement }) }));
  assert.equal(await ask('PUT', '/a.txt'), 200);
  assert.equal(await ask('GET', '/a.txt'), 200);
  assert.equal(await ask('GET', '?list-type=2'), 200);
  assert.equal(await ask('GET', '/b.txt'), 404);
  assert.equal(await ask('DELETE', '/a.txt'), 204);
  assert.equal(await ask('GET', '?policy'), 403);
  assert.equal(await ask('DELETE', ''), 403);
});
