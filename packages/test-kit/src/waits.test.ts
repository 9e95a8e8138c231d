import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { temporaryFolder } from '@runwire/server/testing';
import { s3Client } from './s3-gateway.ts';
import { ServerProcess } from './test-server.ts';

/* A test that waits for a process that has ended must fail, not hang. */

const timeout = 30_000;

test('a question to a server that ends is rejected', { timeout }, async () => {
  const server = await ServerProcess.start({ dataDir: temporaryFolder(), store: 'sqlite' });
  server.freeze();
  const asked = assert.rejects(server.probe(), /^Error: The server ended \(SIGKILL\) before it answered/);
  await server.kill();
  await asked;
  await assert.rejects(server.sweepBlobs(), /before it answered/);
});

test('a request to an S3 that does not answer is rejected', { timeout }, async (t) => {
  const server = createServer(() => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close().closeAllConnections());
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const access = { endpoint, region: 'us-east-1', accessKeyId: 'x', secretAccessKey: 'x', version: '' };
  const client = await s3Client(access, 100);
  t.after(() => client.destroy());
  const { ListBucketsCommand } = await import('@aws-sdk/client-s3');
  await assert.rejects(client.send(new ListBucketsCommand()), { name: 'TimeoutError' });
});
