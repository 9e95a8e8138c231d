import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAllDestroyed, failure, guarded, names, PUBLIC } from '../../testing/guarded-rig.ts';
import { type Serve, WatchedNetwork } from '../../testing/watched-network.ts';
import type { GuardedFetchOptions } from './guarded-fetch.ts';

const hanging = (begin: () => void): Promise<never> => {
  begin();
  return new Promise<never>(() => {});
};

test('one time counts for everything, whatever is silent', async () => {
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

test('an abort wakes it at any moment, with its own reason', async () => {
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

test('destroys a connection that comes when nobody waits for it any more', async () => {
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
