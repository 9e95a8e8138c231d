import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startTestServer, TEST_API_KEY } from '@runwire/test-kit';
import { count, scale } from '@runwire/test-kit/scale.ts';
import { expectEqual, until, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import { cites } from '../requirements/cite.ts';
import { Cluster } from './support/cluster.ts';
import { ConsolePage, PASSWORD } from './support/console-page.ts';
import { listSamples, paste } from './support/doc-samples.ts';
import { eventually } from './support/eventually.ts';
import { ScriptedServer } from './support/scripted-server.ts';
import { missingService } from './support/services.ts';

const ENV = { RUNWIRE_TRUSTED_PROXIES: '127.0.0.1, ::1' };
const WRONG = [401, 'invalid_sign_in'];
const LIMITED = [429, 'too_many_sign_ins'];
let people = 0;

describe('several nodes', { skip: (await missingService('postgres')) ?? false }, () => {
  test('sessions, limits and links hold on every node; streams of ended sessions close', async (t) => {
    cites(t, 'clients-17-nodes');
    await using cluster = await Cluster.start(2, { env: ENV, limits: { accountsVersionMs: 200 } });
    const [here, there] = [cluster.node(0), cluster.node(1)];
    const { setupLink } = here.server.server;
    assert.equal(there.server.server.setupLink, null, 'one link is printed');
    const page = new ConsolePage(here.server.url);
    assert.deepEqual(await new ConsolePage(there.server.url).setUp(setupLink ?? '', 'root@example.com'), [204]);
    assert.deepEqual(await page.setUp(setupLink ?? '', 'root@example.com'), [400, 'invalid_set_up_link']);
    assert.deepEqual(await page.signIn('root@example.com'), [204]);

    const elsewhere = there.api.as((await page.api()).apiKey);
    assert.equal((await elsewhere.get('/v2/me')).status, 200);
    const held = await here.hold({ message: 'Hello' });
    const stream = await elsewhere.events(held.runId, null);
    assert.equal(stream.status, 200);
    assert.deepEqual(await page.result('sign_out'), [204]);
    await eventually('the token is refused on the other node', async () =>
      (await elsewhere.get('/v2/me')).status === 401 ? true : null,
    );
    await within('the end of the stream', WAIT_MS, stream.over);
    await held.finish('Done');

    await checkEnds(cluster);

    const guesses = [];
    for (let guess = 0; guess < 6; guess += 1) {
      const node = guess % 2 === 0 ? here : there;
      guesses.push(await new ConsolePage(node.server.url).signIn('root@example.com', 'wrong'));
    }
    assert.deepEqual(guesses, [WRONG, WRONG, WRONG, WRONG, WRONG, LIMITED]);
  });
});

/** Every way to end a session ends a stolen copy of its cookie and its token, on every node. */
async function checkEnds(cluster: Cluster): Promise<void> {
  const [here, there] = [cluster.node(0), cluster.node(1)];
  const at = (node: ScriptedServer, { cookie, address }: ConsolePage) =>
    Object.assign(new ConsolePage(node.server.url, address), { cookie });
  const invite = async () => {
    people += 1;
    const { body } = await here.api.post('/v2/owners', { email: `person-${people}@example.com` });
    return body as { ownerId: string; email: string; setupLink: string };
  };
  type Way = (own: { ownerId: string; email: string; page: ConsolePage }, thief: ConsolePage) => Promise<unknown>;
  const ways: Readonly<Record<string, Way>> = {
    'new link': async ({ ownerId, email }) => {
      const { setupLink, ownerId: other } = await invite();
      await cluster.query(`update set_up_links set owner_id = '${ownerId}' where owner_id = '${other}'`);
      const page = new ConsolePage(there.server.url);
      expectEqual('a new link', await page.setUp(setupLink, email, 'another long password'), [204]);
    },
    'signed out': (_, thief) => at(there, thief).post('sign_out'),
    'signed out everywhere': ({ page }) => at(there, page).post('sign_out_everywhere'),
    'new password': ({ page }) => page.result('password', { current: PASSWORD, new: 'another long password' }),
    'deleted owner': async ({ ownerId }, thief) => {
      const owner = await thief.api();
      // An owner with an integration cannot be deleted.
      for (const { apiIntegrationId } of (await owner.get('/v2/integrations')).body.items) {
        expectEqual('a deletion', (await owner.delete(`/v2/integrations/${apiIntegrationId}`)).status, 204);
      }
      expectEqual("an owner's deletion", (await there.api.delete(`/v2/owners/${ownerId}`)).status, 204);
    },
  };
  for (const [way, end] of Object.entries(ways).slice(0, scale(1, 5))) {
    const { ownerId, email, setupLink } = await invite();
    const pages = cluster.nodes.map((node) => new ConsolePage(node.server.url));
    const uses = await Promise.all(pages.map((page) => page.setUp(setupLink, email)));
    expectEqual('uses of one link on all nodes', uses.filter(([status]) => status === 204).length, 1);
    const page = pages.find(({ cookie }) => cookie !== null) as ConsolePage;
    const stolen = new ConsolePage(here.server.url);
    expectEqual('a sign-in', await stolen.signIn(email), [204]);
    const owner = await stolen.api();
    const { apiIntegrationId } = (await owner.post('/v2/integrations', {})).body;
    const home = `/v2/integrations/${apiIntegrationId}`;
    await owner.put(`${home}/members/ann`, {});
    const minted = (await owner.post(`${home}/client_tokens`, { consumerId: 'ann' })).body.clientToken;
    const statuses = async ({ api }: ScriptedServer) => [
      (await api.as(owner.apiKey).get('/v2/me')).status,
      (await api.as(minted).get(`${home}/chats`)).status,
    ];
    for (const node of cluster.nodes) expectEqual(`${way}: statuses before`, await statuses(node), [200, 200]);
    await end({ ownerId, email, page }, stolen);
    for (const node of cluster.nodes) {
      for (const path of ['token', 'sign_out_everywhere']) {
        expectEqual(`${way}: ${path}`, await at(node, stolen).result(path), [401, 'session_ended']);
      }
      const isRefused = async () => (await statuses(node)).every((status) => status === 401);
      await until(`${way}: the refusal of its tokens`, isRefused, { limitMs: 5000 });
    }
    count({ ended: 1 });
  }
}

describe('streams', () => {
  const rig = ScriptedServer.shared({ limits: { accountsVersionMs: 200 } });

  test('a stream of a console token continues until its session ends', async (t) => {
    cites(t, 'clients-17-streams');
    const page = new ConsolePage(rig.server.url);
    assert.deepEqual(await page.setUp(rig.server.server.setupLink ?? '', 'root@example.com'), [204]);
    const owner = await page.api();
    const reader = await owner.complete({ message: 'Hello' });
    const call = await rig.controller.nextCall();
    await call.text('one ');
    await reader.untilText('one ');
    assert.deepEqual(await page.result('sign_out'), [204]);
    await within('the end of the stream', WAIT_MS, reader.over);
    assert.ok(!reader.text.includes('event: end'), 'it was cut, not ended');
    await call.end();
  });
});

test('the sample of the guide works as pasted', { skip: (await missingService('curl')) ?? false }, async (t) => {
  await using server = await startTestServer();
  const [sample = ''] = listSamples('docs/sign-in.md', 'sh');
  const printed = await paste(t, sample, { URL: server.url, KEY: TEST_API_KEY });
  assert.match(printed, /"email":"ann@example.com","name":null,"role":"manager"\},"key":\{"keyId":"ses_/);
});
