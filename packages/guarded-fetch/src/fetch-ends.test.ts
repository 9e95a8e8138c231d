import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answers, assertAllDestroyed, failure, guarded, names, PUBLIC } from '@runwire/test-kit/guarded-rig.ts';
import type { GuardedFetchOptions } from './guarded-fetch.ts';
import { httpAnswer, type Serve, WatchedNetwork } from './testing/watched-network.ts';

const hanging = (begin: () => void): Promise<never> => {
  begin();
  return new Promise<never>(() => {});
};

test('one time limit applies to all parts of a fetch', async () => {
  const silent: Serve = () => {};
  const halfway: Serve = (_, connection) => void connection.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc');
  const stuck = new Promise<never>(() => {});
  const deaf = new WatchedNetwork(names, silent);
  const cases: readonly [Serve, Partial<GuardedFetchOptions>][] = [
    [silent, {}],
    [halfway, {}],
    [silent, { network: { resolve: () => stuck, dial: () => stuck } }],
    [silent, { network: { resolve: deaf.resolve.bind(deaf), dial: () => stuck } }],
  ];
  for (const [serve, options] of cases) {
    const { network, fetch } = guarded(serve, { ...options, maxMs: 50 });
    assert.equal((await failure(fetch('https://a.test/'))).kind, 'too_slow');
    assertAllDestroyed(network);
  }
});

test('an abort ends a fetch at any moment with its own reason', async () => {
  const moments: readonly ((abort: () => void) => Partial<GuardedFetchOptions> & { serve?: Serve })[] = [
    (abort) => ({
      network: { resolve: () => hanging(abort), dial: () => assert.fail() },
    }),
    (abort) => ({
      network: { resolve: async () => [PUBLIC], dial: () => hanging(abort) },
    }),
    (abort) => ({ serve: () => abort() }),
    (abort) => ({
      serve: (_, connection) => {
        connection.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc');
        setImmediate(abort);
      },
    }),
  ];
  for (const moment of moments) {
    const controller = new AbortController();
    const reason = new Error('No longer wanted.');
    const { serve, ...options } = moment(() => controller.abort(reason));
    const { network, fetch } = guarded(serve ?? (() => {}), options);
    await assert.rejects(fetch('https://a.test/', controller.signal), reason);
    assertAllDestroyed(network);
  }
  const { network, fetch } = guarded(() => {});
  await assert.rejects(fetch('https://a.test/', AbortSignal.abort(new Error('Before.'))), /Before/);
  assert.deepEqual(network.resolved, []);
});

test('destroys a connection that opens after the fetch was given up', async () => {
  const watched = new WatchedNetwork(names, () => {});
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  const controller = new AbortController();
  const network = {
    resolve: watched.resolve.bind(watched),
    dial: async (to: Parameters<WatchedNetwork['dial']>[0]) => {
      setImmediate(() => controller.abort());
      await opened;
      return watched.dial(to);
    },
  };
  await assert.rejects(guarded(() => {}, { network }).fetch('https://a.test/', controller.signal), {
    name: 'AbortError',
  });
  open();
  await new Promise(setImmediate);
  assert.equal(watched.connections.length, 1);
  assertAllDestroyed(watched);
});

test('tries the next address after 5 s, and gives the last one the remaining time', async (t) => {
  const dialled: string[] = [];
  const { promise: first, resolve: begun } = Promise.withResolvers<void>();
  const { promise: second, resolve: gone } = Promise.withResolvers<void>();
  const network = {
    resolve: async () => [PUBLIC, '93.184.216.35'],
    dial: async ({ address }: { readonly address: string }, signal: AbortSignal) => {
      dialled.push(address);
      if (dialled.length === 1) begun();
      else gone();
      return new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    },
  };
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const failed = failure(guarded(() => {}, { network, maxMs: 30_000 }).fetch('https://a.test/'));
  await first;
  t.mock.timers.tick(4_999);
  await new Promise(setImmediate);
  assert.deepEqual(dialled, [PUBLIC]);
  t.mock.timers.tick(1);
  await second;
  assert.deepEqual(dialled, [PUBLIC, '93.184.216.35']);
  t.mock.timers.tick(24_999);
  t.mock.timers.tick(1);
  assert.equal((await failed).kind, 'too_slow');
});

test('accepts a few early answers and refuses many', async () => {
  const early = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n';
  const file = httpAnswer(200, {}, 'abc');
  assert.equal((await guarded(answers(`${early.repeat(8)}${file}`)).fetch('https://a.test/')).bytes.length, 3);
  const many = guarded(answers(`${early.repeat(9)}${file}`)).fetch('https://a.test/');
  assert.equal((await failure(many)).kind, 'broken');
});
