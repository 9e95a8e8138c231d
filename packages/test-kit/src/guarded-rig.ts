import assert from 'node:assert/strict';
import { FetchFailed, GuardedFetcher, type GuardedFetchOptions } from '@runwire/guarded-fetch';
import { type Names, type Serve, WatchedNetwork } from '@runwire/guarded-fetch/src/testing/watched-network.ts';
import { ALLOW_NOTHING } from '@runwire/guarded-fetch/url-rules';

export const PUBLIC = '93.184.216.34';
export const names: Names = {
  'a.test': [[PUBLIC]],
  'b.test': [[PUBLIC]],
  'inside.test': [['10.0.0.5']],
};
export const never: AbortSignal = new AbortController().signal;

/** A fetcher over a network in memory. */
export function guarded(serve: Serve, options: Partial<GuardedFetchOptions> & { readonly names?: Names } = {}) {
  const network = new WatchedNetwork({ ...names, ...options.names }, serve);
  const fetcher = new GuardedFetcher({ allow: ALLOW_NOTHING, maxBytes: 1000, maxMs: 60_000, network, ...options });
  const fetch = (url: string, signal: AbortSignal = never) => fetcher.fetch(new URL(url), signal);
  return { network, fetch, ask: fetcher.ask.bind(fetcher) };
}

export const answers =
  (text: string): Serve =>
  (_, connection) =>
    void connection.write(text);

/** Returns the `FetchFailed` that it rejects with, after checking that it contains no address and no query. */
export async function failure(work: Promise<unknown>): Promise<FetchFailed> {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof FetchFailed, `expected FetchFailed, found ${error}`);
  assert.match(error.message, /^could not be fetched: /);
  assert.doesNotMatch(error.message, /\d+\.\d+\.\d+|sig|secret/);
  return error;
}

export function assertAllDestroyed(network: WatchedNetwork): void {
  for (const { ours } of network.connections) assert.equal(ours.destroyed, true);
}
