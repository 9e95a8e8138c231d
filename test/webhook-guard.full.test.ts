import { test } from 'node:test';
import type { DialTo, Network } from '@runwire/guarded-fetch';
import { getNames, getServer, items, PUBLIC } from '@runwire/guarded-fetch/src/testing/ssrf-corpus.ts';
import { type Names, type Serve, WatchedNetwork } from '@runwire/guarded-fetch/src/testing/watched-network.ts';
import { startTestServer } from '@runwire/test-kit';
import { count } from '@runwire/test-kit/scale.ts';
import { expectEqual, until } from '@runwire/test-kit/shortfall.ts';

/* Every address of the proof `ssrf` as an endpoint, on a network in memory that records each dial. */

class SwitchedNetwork implements Network {
  current = new WatchedNetwork({}, () => {});

  resolve(hostname: string): Promise<readonly string[]> {
    return this.current.resolve(hostname);
  }

  dial(to: DialTo) {
    return this.current.dial(to);
  }
}

const BELOW = '/v2/integrations/demo/webhooks';

test('no webhook reaches an address that is not public', async () => {
  const network = new SwitchedNetwork();
  let shiftMs = 0;
  await using server = await startTestServer({ network, clock: () => Date.now() + shiftMs });
  const { api } = server;
  /** Posts to the URL so often. Resolves to the addresses that were dialled, or to null if the endpoint is refused. */
  const dials = async (url: string, names: Names, serve: Serve, attempts = 1): Promise<readonly string[] | null> => {
    network.current = new WatchedNetwork(names, serve);
    const { status, body } = await api.post(BELOW, { url });
    if (status === 400) return null;
    const below = `${BELOW}/${body.endpointId}`;
    await api.post(`${below}/test`, {});
    for (let attempt = 1; attempt <= attempts; attempt += 1) {
      await until('the attempt', async () => (await api.get(`${below}/deliveries`)).body.items[0].attempts >= attempt, {
        pauseMs: 10,
      });
      shiftMs += 10_000;
    }
    await api.delete(below);
    return network.current.dialled.map(({ address }) => address);
  };
  let refused = 0;
  let posted = 0;
  for (const item of items) {
    const { id, reason, stage, expect, url = '' } = item;
    if (stage === 'refresh-map' || stage === 'response' || url === '') continue;
    const names = getNames(item);
    const found = await dials(url, names, getServer(item));
    const what = `addresses dialled for ${id} (${reason})`;
    if (stage === 'parse' || stage === 'literal') expectEqual(`${what}, refused at creation`, found, null);
    else if (expect === 'reject' && stage === 'dns') expectEqual(what, found ?? [], []);
    // A redirect is not followed.
    else expectEqual(what, found, [names[new URL(url).hostname]?.[0]?.[0] ?? PUBLIC]);
    if (found === null || found.length === 0) refused += 1;
    else posted += 1;
  }
  const serve = getServer({ redirect_chain: [{ status: 500 }, { status: 500 }] });
  const rebinding = { 'changing.test': [[PUBLIC], ['127.0.0.1']] };
  const changed = await dials('https://changing.test/hook', rebinding, serve, 2);
  expectEqual('addresses dialled for a name that changes between two attempts', changed, [PUBLIC]);
  count({ refused, posted, private_dials: 0 });
});
