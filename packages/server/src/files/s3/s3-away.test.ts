import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { testS3Files } from '@runwire/test-kit/s3-files.ts';
import { sharedS3, stopOwnS3 } from '@runwire/test-kit/s3-gateway.ts';
import { missingService } from '../../../../../test/support/services.ts';
import { Relay } from '../../../../test-kit/src/relay.ts';
import { DEFAULT_LIMITS } from '../../config/limits.ts';
import { StoreUnavailable } from '../../domain/unavailable.ts';
import { newFileBlobKey } from '../../storage/blob-store.ts';
import type { S3BlobStore } from '../../storage/s3/s3-blob-store.ts';
import { S3Bucket } from '../../storage/s3/s3-bucket.ts';

const skip = (await missingService('s3')) ?? false;
after(stopOwnS3);

const MIB = 1024 * 1024;
const SHORT = { s3ConnectMs: 500, s3SilenceMs: 500, s3RequestMs: 1500, s3TransferMs: 1500 };

async function* getPieces(bytes: Uint8Array) {
  yield bytes;
}

/** Everything that can be asked of the bytes. */
function everything(blobs: S3BlobStore): Readonly<Record<string, () => Promise<unknown>>> {
  const key = newFileBlobKey();
  const drop = { key: 'drop', size: 1, etag: '"x"', modifiedAt: 0 };
  return {
    put: () => blobs.put(key, Buffer.from('x')),
    write: () => blobs.write(key, getPieces(Buffer.from('x'))),
    adopt: () => blobs.adopt(drop, key),
    open: () => blobs.open(key),
    read: () => blobs.read(key),
    holds: () => blobs.holds(key, Buffer.from('x')),
    has: () => blobs.has(key, 1),
    delete: () => blobs.delete(key),
    list: () => Array.fromAsync(blobs.list()),
  };
}

async function assertUnavailable(endpoint: string): Promise<void> {
  using rig = await testS3Files({ endpoint, times: SHORT });
  const all = everything(rig.blobs());
  await Promise.all(Object.entries(all).map(([name, ask]) => assert.rejects(ask, StoreUnavailable, name)));
}

/** An S3 that answers everything in one way. */
async function answering(
  t: { after(fn: () => void): void },
  status: number,
  code: string,
  onRequest = () => {},
): Promise<string> {
  const server = createServer((request, response) => {
    onRequest();
    request.resume();
    response.writeHead(status, { 'content-type': 'application/xml' });
    response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>Said so</Message></Error>`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('requests to an S3 that is away, silent or overloaded can be retried', {
  skip,
}, async (t) => {
  await using silent = await Relay.start((await sharedS3()).endpoint);
  silent.cut();
  await assertUnavailable('http://127.0.0.1:1');
  await assertUnavailable(silent.url);
  await assertUnavailable(await answering(t, 503, 'SlowDown'));
  await assertUnavailable(await answering(t, 500, 'InternalError'));
});

test('an endpoint that the environment names for all of AWS is not asked', async (t) => {
  let asked = 0;
  const elsewhere = await answering(t, 404, 'NoSuchKey', () => {
    asked += 1;
  });
  const names = ['AWS_ENDPOINT_URL', 'AWS_ENDPOINT_URL_S3'];
  const credentials = { AWS_ACCESS_KEY_ID: 'nobody', AWS_SECRET_ACCESS_KEY: 'nothing' };
  const set = { ...Object.fromEntries(names.map((name) => [name, elsewhere])), ...credentials };
  const before = Object.keys(set).map((name) => [name, process.env[name]] as const);
  t.after(() => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });
  Object.assign(process.env, set);
  // A region that does not exist, so that Amazon is not asked either.
  using bucket = await S3Bucket.of({ bucket: 'runwire-test', endpoint: null, region: 'no-where-1' }, SHORT);
  await assert.rejects(bucket.head('a'), StoreUnavailable);
  assert.equal(asked, 0);
});

test('an error that waiting does not fix is not reported as an outage', { skip }, async (t) => {
  using rig = await testS3Files({ endpoint: await answering(t, 403, 'AccessDenied'), times: SHORT });
  for (const [name, ask] of Object.entries(everything(rig.blobs()))) {
    await assert.rejects(ask, (error) => !(error instanceof StoreUnavailable), name);
  }
});

test('a read that is cut continues with the next byte', { skip }, async () => {
  await using relay = await Relay.start((await sharedS3()).endpoint);
  using rig = await testS3Files({ endpoint: relay.url, times: DEFAULT_LIMITS });
  const [blobs, key] = [rig.blobs(), newFileBlobKey()];
  const bytes = randomBytes(12 * MIB);
  await blobs.write(key, getPieces(bytes));
  await using opened = await blobs.open(key, { first: 5, last: bytes.length });
  const pieces: Uint8Array[] = [];
  let cuts = 0;
  for await (const piece of opened?.bytes ?? []) {
    pieces.push(piece);
    if (pieces.length % 40 !== 1 || cuts === 3) continue;
    cuts += 1;
    relay.cut();
    relay.mend();
  }
  assert.equal(cuts, 3);
  assert.ok(Buffer.concat(pieces).equals(bytes.subarray(5)));
});

test('a read that is cut while the file is replaced ends with an error, and never with bytes of another', {
  skip,
}, async () => {
  await using relay = await Relay.start((await sharedS3()).endpoint);
  using rig = await testS3Files({ endpoint: relay.url, times: DEFAULT_LIMITS });
  const [blobs, key] = [rig.blobs(), newFileBlobKey()];
  await blobs.put(key, Buffer.alloc(12 * MIB, 'a'));
  await using opened = await blobs.open(key);
  let isCut = false;
  const read = async () => {
    for await (const piece of opened?.bytes ?? []) {
      assert.ok(!Buffer.from(piece).includes('b'), 'no byte of the other');
      if (isCut) continue;
      isCut = true;
      await blobs.put(key, Buffer.alloc(12 * MIB, 'b'));
      relay.cut();
      relay.mend();
    }
  };
  await assert.rejects(read, /^StoreUnavailable: The file was replaced or deleted while it was being read\.$/);
});

test('S3 refuses damaged bytes and stores nothing', { skip }, async () => {
  using rig = await testS3Files();
  const [blobs, key] = [rig.blobs(), newFileBlobKey()];
  const md5 = Buffer.alloc(16).toString('base64');
  const body = { bytes: () => Buffer.from('damaged'), length: 7, contentType: 'text/plain', md5 };
  await assert.rejects(rig.bucket.put(`${rig.mark}/blobs/${key}`, body), /digest|MD5/i);
  assert.equal(await blobs.open(key), null);
});
