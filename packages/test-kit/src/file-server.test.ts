import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FetchFailed, GuardedFetcher } from '@runwire/guarded-fetch';
import { parseFetchAllow } from '@runwire/guarded-fetch/url-rules';
import { FileServer } from './file-server.ts';

const signal = new AbortController().signal;

function fetcherFor(files: FileServer): GuardedFetcher {
  return new GuardedFetcher({ allow: parseFetchAllow(files.allow), maxBytes: 100_000, maxMs: 60_000 });
}

const fails = (kind: string) => (error: unknown) => error instanceof FetchFailed && error.kind === kind;

test('is trusted only by clients that are set up for it', async () => {
  await using files = await FileServer.start();
  const url = new URL(files.url('/a.txt?b'));
  await assert.rejects(fetcherFor(files).fetch(url, signal), fails('unreachable'));
  files.serve('/a.txt', 'Hello', 'text/plain');
  {
    using _ = files.trustHere();
    const { bytes, contentType } = await fetcherFor(files).fetch(url, signal);
    assert.equal(Buffer.from(bytes).toString(), 'Hello');
    assert.equal(contentType, 'text/plain');
  }
  await assert.rejects(fetcherFor(files).fetch(url, signal), fails('unreachable'));
  assert.deepEqual(
    files.requests.map(({ method, path, query }) => [method, path, query]),
    [['GET', '/a.txt', '?b']],
  );
});

test('redirects, announces wrong lengths, never ends, compresses, cuts', async () => {
  await using files = await FileServer.start();
  using _ = files.trustHere();
  const fetcher = fetcherFor(files);
  const ask = (url: string) => fetcher.fetch(new URL(url), signal);
  files.serve('/there', 'Here it is.');
  assert.equal(Buffer.from((await ask(files.redirect('/here', '/there', 307))).bytes).toString(), 'Here it is.');
  await assert.rejects(ask(files.redirect('/round', '/round')), fails('redirects'));
  await assert.rejects(ask(files.lie('/short', Buffer.alloc(10), 20)), fails('broken'));
  await assert.rejects(ask(files.lie('/huge', Buffer.alloc(10), 100_001)), fails('too_large'));
  await assert.rejects(ask(files.endless('/endless')), fails('too_large'));
  await assert.rejects(ask(files.gzipped('/gzip', Buffer.from('text'))), fails('broken'));
  await assert.rejects(ask(files.serve('/teapot', 'no', null, 418)), fails('status'));
  await assert.rejects(ask(files.url('/nothing')), fails('status'));
});

test('holds a file until the test sends it', async () => {
  await using files = await FileServer.start();
  using _ = files.trustHere();
  const held = files.hold('/slow');
  const fetched = fetcherFor(files).fetch(new URL(files.url('/slow')), signal);
  const call = await held.nextCall();
  call.head(200, { 'content-length': '4' });
  for (const piece of ['a', 'b', 'c', 'd']) await call.bytes(piece);
  call.end();
  assert.equal(Buffer.from((await fetched).bytes).toString(), 'abcd');
  assert.equal(await call.closed, true);
});

test('answers a signed link until another is signed or it expires', async () => {
  await using files = await FileServer.start();
  using _ = files.trustHere();
  files.serveSigned('/kept/report.txt', 'Hello');
  const ask = async (url: string) => {
    try {
      await fetcherFor(files).fetch(new URL(url), signal);
      return 200;
    } catch (error) {
      return (error as FetchFailed).status;
    }
  };
  const first = files.sign('/kept/report.txt');
  assert.equal(await ask(first), 200);
  assert.equal(await ask(files.url('/kept/report.txt')), 403);
  const second = files.sign('/kept/report.txt');
  assert.equal(await ask(second), 200);
  assert.equal(await ask(first), 403);
  const old = files.sign('/kept/report.txt', { at: new Date(Date.now() - 120_000), expiresSeconds: 60 });
  assert.equal(await ask(old), 403);
});
