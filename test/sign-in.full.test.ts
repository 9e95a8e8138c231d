import { test } from 'node:test';
import { type ApiClient, Rig } from '@runwire/test-kit';
import { count, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import { addTo, expectAtLeast, expectEqual, named, until } from '@runwire/test-kit/shortfall.ts';
import { askStore } from './support/ask-store.ts';
import { ConsolePage, PASSWORD, secretOf } from './support/console-page.ts';
import { partOf } from './support/forged-token.ts';
import { missingService } from './support/services.ts';

/*
 * Attacks the sign-in of the console: with links, cookies and tokens that have ended or were stolen, from pages of other
 * origins, and by guessing. Then it looks for every secret in all answers and in the log.
 */

const CONSOLE = ['sign_in', 'token', 'sign_out', 'sign_out_everywhere', 'set_up', 'password'];
const REFUSED_MS = 5000;
const DAY_MS = 86_400_000;
const ENDED = [401, 'session_ended'];
const OTHER_PASSWORD = 'another long password';

interface ApiOperation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly needsKey: boolean;
}

interface Person {
  readonly ownerId: string;
  readonly email: string;
  readonly page: ConsolePage;
}

/** One installation, its operations, and every secret that was shown once. */
class Stage {
  readonly rig: Rig;
  readonly secrets = new Set<string>([PASSWORD, OTHER_PASSWORD]);
  readonly operations: readonly ApiOperation[];
  #people = 0;

  private constructor(rig: Rig, operations: readonly ApiOperation[]) {
    this.rig = rig;
    this.operations = operations;
  }

  static async of(rig: Rig): Promise<Stage> {
    const { paths } = (await rig.api().get('/openapi.json')).body as { paths: Record<string, Record<string, object>> };
    const described = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => {
        const { operationId, security } = operation as { operationId: string; security?: unknown[] };
        const needsKey = security?.length !== 0;
        return { id: operationId, method: method.toUpperCase(), path: filled(path), needsKey };
      }),
    );
    expectEqual(
      'console operations in the API description',
      described.filter(({ path }) => /console/.test(path)),
      [],
    );
    return new Stage(rig, described);
  }

  /** A page of a browser with its own address, at the nodes by turns. */
  page(turn = 0, address?: string): ConsolePage {
    return new ConsolePage(this.rig.api(turn).url, address);
  }

  /** The same page at another node. */
  at(turn: number, page: ConsolePage): ConsolePage {
    const copy = this.page(turn, page.address);
    copy.cookie = page.cookie;
    return copy;
  }

  get turns(): number[] {
    return [...this.rig.servers.keys()];
  }

  async invite() {
    this.#people += 1;
    const { status, body } = await this.rig.api().post('/v2/owners', { email: `person-${this.#people}@example.com` });
    expectEqual('status of a new owner', status, 201);
    this.secrets.add(body.apiKey).add(secretOf(body.setupLink));
    return body as { ownerId: string; email: string; setupLink: string };
  }

  /** A new owner who is signed in. */
  async person(): Promise<Person> {
    const { ownerId, email, setupLink } = await this.invite();
    const page = this.page();
    expectEqual('a set-up', await page.setUp(setupLink, email), [204]);
    this.secrets.add(String(page.cookie));
    return { ownerId, email, page };
  }

  async signedIn(email: string, password?: string): Promise<ConsolePage> {
    const page = this.page();
    expectEqual('a sign-in', await page.signIn(email, password), [204]);
    this.secrets.add(String(page.cookie));
    return page;
  }

  async token(page: ConsolePage): Promise<string> {
    const { status, body } = await page.post('token');
    expectEqual('status of a console token', status, 200);
    this.secrets.add(String(body.token));
    return String(body.token);
  }

  /** Asks the store itself. */
  async ask(statement: string): Promise<void> {
    if (this.rig.isEmbedded) await askStore(this.rig.dataDir, statement);
    else await this.rig.query(statement);
  }

  /** Every node must refuse the cookie immediately, and the token within 5 s. */
  async checkEnded(what: string, page: ConsolePage, token: string): Promise<void> {
    const me = (turn: number) => this.rig.api(turn).as(token).get('/v2/me');
    for (const turn of this.turns) {
      for (const path of ['token', 'sign_out_everywhere']) {
        expectEqual(`${what}: ${path}`, await this.at(turn, page).result(path), ENDED);
      }
    }
    const isRefused = async (turn: number) => (await me(turn)).status === 401;
    const refusals = this.turns.map((turn) =>
      until(`${what}: the refusal of its token`, () => isRefused(turn), { limitMs: REFUSED_MS }),
    );
    await Promise.all(refusals);
  }
}

const filled = (path: string) => path.replace('{apiIntegrationId}', 'demo').replace(/\{\w+\}/g, 'some-id');

/** Links are used once, also by concurrent requests to several nodes, and not after their time. */
async function checkLinks(stage: Stage): Promise<{ links: number }> {
  const { ownerId, email, setupLink } = await stage.invite();
  const first = stage.page();
  for (const weak of ['short', email]) {
    expectEqual('a weak password', await first.setUp(setupLink, email, weak), [400, 'weak_password']);
  }
  await stage.ask(`update set_up_links set expires_at = ${Date.now() - 1} where owner_id = '${ownerId}'`);
  expectEqual('a link after its time', await first.setUp(setupLink, email), [400, 'invalid_set_up_link']);
  await stage.ask(`update set_up_links set expires_at = ${Date.now() + DAY_MS} where owner_id = '${ownerId}'`);
  const pages = Array.from({ length: 8 }, (_, turn) => stage.page(turn));
  const results = await Promise.all(pages.map((page) => page.setUp(setupLink, email)));
  const used = results.filter(([status]) => status === 204);
  expectEqual('uses of one link', used.length, 1);
  return { links: used.length };
}

/** No operation of the API accepts the cookie. Returns the number of operations that were tried. */
async function checkCookie(stage: Stage): Promise<{ operations: number }> {
  const { page } = await stage.person();
  for (const turn of stage.turns) await stage.token(stage.at(turn, page));
  const cookie = `runwire_session=${page.cookie}`;
  const keyed = stage.operations.filter(({ needsKey }) => needsKey);
  for (const { id, method, path } of keyed) {
    for (const turn of stage.turns) {
      for (const headers of [{ cookie }, { authorization: `Bearer ${page.cookie}` }, { authorization: '', cookie }]) {
        const answer = await fetch(stage.rig.api(turn).url + path, { method, headers });
        await answer.arrayBuffer();
        expectEqual(`${id} with the cookie: status`, answer.status, 401);
      }
    }
  }
  return { operations: keyed.length };
}

/** Requests of other origins are refused and change nothing. Returns their number. */
async function checkOrigins(stage: Stage): Promise<{ foreign: number }> {
  const { email, page } = await stage.person();
  const host = new URL(page.url).host;
  const foreign: Readonly<Record<string, string>>[] = [
    {},
    { origin: 'null' },
    { origin: 'https://evil.example' },
    { origin: `https://${host}.evil.example` },
    { origin: `http://${host.split(':')[0]}:1` },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
    { 'sec-fetch-site': 'cross-site', origin: `http://${host}` },
    { 'sec-fetch-site': 'same-origin, cross-site' },
  ];
  const body = JSON.stringify({ email, password: PASSWORD });
  let refused = 0;
  for (const path of CONSOLE) {
    for (const headers of foreign) {
      const cookie = `runwire_session=${page.cookie}`;
      const answer = await fetch(`${page.url}/console/${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', cookie, ...headers },
        body,
      });
      const { code } = (await answer.json()) as { code: string };
      expectEqual(`${path} ${JSON.stringify(headers)}`, [answer.status, code], [403, 'foreign_origin']);
      expectEqual(`${path}: cookies of a refused request`, answer.headers.get('set-cookie'), null);
      refused += 1;
    }
  }
  await stage.token(page);
  return { foreign: refused };
}

/** Every way to end a session ends a stolen copy of its cookie, its tokens and its client tokens, on every node. */
async function checkSessions(stage: Stage): Promise<{ ended: number }> {
  const ways: Readonly<Record<string, (own: Person, thief: ConsolePage) => Promise<void>>> = {
    'signed out': async (_, thief) => void (await stage.at(1, thief).post('sign_out')),
    'signed out everywhere': async ({ page }) => void (await stage.at(1, page).post('sign_out_everywhere')),
    'new password': async ({ page }) => {
      const changed = await page.result('password', { current: PASSWORD, new: OTHER_PASSWORD });
      expectEqual('a new password', changed, [204]);
    },
    'new link': async ({ ownerId, email }) => {
      const { setupLink, ownerId: newOwner } = await stage.invite();
      await stage.ask(`update set_up_links set owner_id = '${ownerId}' where owner_id = '${newOwner}'`);
      expectEqual('a new link', await stage.page(1).setUp(setupLink, email, OTHER_PASSWORD), [204]);
    },
    'deleted owner': async ({ ownerId }) =>
      void expectEqual('a deletion', (await stage.rig.api(1).delete(`/v2/owners/${ownerId}`)).status, 204),
  };
  for (const [way, end] of Object.entries(ways)) {
    const own = await stage.person();
    const stolen = await stage.signedIn(own.email);
    const token = await stage.token(stolen);
    for (const turn of stage.turns) {
      expectEqual(`${way}: status before`, (await stage.rig.api(turn).as(token).get('/v2/me')).status, 200);
    }
    await end(own, stolen);
    await stage.checkEnded(way, stolen, token);
  }
  await checkAges(stage);
  await checkClientToken(stage);
  return { ended: Object.keys(ways).length + 3 };
}

async function checkAges(stage: Stage): Promise<void> {
  for (const [column, days] of [
    ['used_at', 7],
    ['created_at', 30],
  ] as const) {
    const { ownerId, page } = await stage.person();
    const age = (ms: number) =>
      stage.ask(`update sessions set ${column} = ${column} - ${ms} where owner_id = '${ownerId}'`);
    await age(days * DAY_MS - 60_000);
    await stage.token(page);
    await age(days * DAY_MS);
    expectEqual(`a session after ${days} days`, await stage.at(1, page).result('token'), ENDED);
  }
}

async function checkClientToken(stage: Stage): Promise<void> {
  const { page } = await stage.person();
  const owner = stage.rig.api().as(await stage.token(page));
  const { apiIntegrationId: id } = (await owner.post('/v2/integrations', {})).body;
  await owner.put(`/v2/integrations/${id}/members/ann`, {});
  const minted = (await owner.post(`/v2/integrations/${id}/client_tokens`, { consumerId: 'ann' })).body.clientToken;
  stage.secrets.add(minted);
  expectEqual('the key of a client token', partOf(minted, 1).key, partOf(String(owner.apiKey), 1).sid);
  const status = async (turn: number) =>
    (await stage.rig.api(turn).as(minted).get(`/v2/integrations/${id}/chats`)).status;
  for (const turn of stage.turns) expectEqual('a client token before', await status(turn), 200);
  await page.post('sign_out');
  const what = 'the refusal of a client token whose session ended';
  const limitMs = REFUSED_MS;
  await Promise.all(stage.turns.map((turn) => until(what, async () => (await status(turn)) === 401, { limitMs })));
}

/** Concurrent guesses at all nodes get no further than the limits. Returns how many passwords were checked. */
async function checkGuesses(stage: Stage, guesses: number): Promise<{ byEmail: number; byAddress: number }> {
  const { email } = await stage.person();
  const count = async (guess: (index: number) => Promise<unknown[]>) => {
    const results = await Promise.all(Array.from({ length: guesses }, (_, index) => guess(index)));
    const wrong = results.filter(([status]) => status === 401).length;
    expectEqual('guesses that were refused', results.filter(([status]) => status === 429).length, guesses - wrong);
    return wrong;
  };
  const byEmail = await count((index) => stage.page(index).signIn(email, `guess ${index}`));
  expectEqual('checked passwords of one e-mail', byEmail, 5);
  expectEqual('the right password after that', await stage.page(1).signIn(email), [429, 'too_many_sign_ins']);
  const address = '203.0.113.77';
  const byAddress = await count((index) => stage.page(index, address).signIn(`nobody-${index}@example.com`));
  expectEqual('checked passwords of one address', byAddress, 20);
  await stage.ask('delete from sign_in_failures');
  await stage.signedIn(email);
  return { byEmail, byAddress };
}

/** Reads everything that can be read, and looks for what was shown once. Returns the number of finds. */
async function checkSecrets(stage: Stage): Promise<{ leaks: number; read: number }> {
  const { page } = await stage.person();
  const owner = stage.rig.api().as(await stage.token(page));
  const { apiKey } = (await owner.post('/v2/api_keys', {})).body;
  stage.secrets.add(apiKey);
  const reads = stage.operations.filter(({ method }) => method === 'GET');
  const texts: [string, string][] = stage.rig.servers.map(({ output }, index) => [
    `the output of node ${index}`,
    output,
  ]);
  for (const { id, path } of reads) {
    for (const reader of [stage.rig.api(), owner]) texts.push([id, await textOf(reader, path)]);
  }
  for (const path of CONSOLE.filter((name) => name !== 'token')) {
    texts.push([path, JSON.stringify((await page.post(path, { link: apiKey, email: 'x', password: apiKey })).body)]);
  }
  const found = texts.flatMap(([where, text]) =>
    [...stage.secrets].filter((secret) => text.includes(secret)).map(() => where),
  );
  expectEqual('places with a secret that was shown once', found, []);
  expectAtLeast('secrets that were looked for', stage.secrets.size, 30);
  return { leaks: found.length, read: texts.length };
}

async function textOf({ url, authorization }: ApiClient, path: string): Promise<string> {
  const answer = await fetch(url + path, { headers: authorization, redirect: 'manual' });
  return `${JSON.stringify([...answer.headers])}${await answer.text()}`;
}

test('a session is used only by its console, and guesses are slowed down', async (t) => {
  const fault = plantedFault();
  const missing = scale(null, await missingService('postgres'));
  if (missing !== null) return t.skip(missing);
  const sum = { operations: 0, foreign: 0, links: 0, ended: 0, byEmail: 0, byAddress: 0, leaks: 0, read: 0 };
  for (const nodes of scale([null], [null, 2])) {
    const env = { RUNWIRE_TRUSTED_PROXIES: '127.0.0.1 ::1', RUNWIRE_LOG_LEVEL: 'debug' };
    await using rig = await Rig.start({ fault, nodes, env });
    const check = async () => {
      const stage = await Stage.of(rig);
      addTo(sum, await checkCookie(stage));
      addTo(sum, await checkLinks(stage));
      addTo(sum, await checkOrigins(stage));
      addTo(sum, await checkSessions(stage));
      addTo(sum, await checkGuesses(stage, scale(30, 60)));
      addTo(sum, await checkSecrets(stage));
    };
    await named(nodes === null ? 'embedded' : `${nodes} nodes`, check());
  }
  count(sum);
});
