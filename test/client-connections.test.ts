import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { after, before, test } from 'node:test';
import { AuthenticationError, ForbiddenError, type KeySource, Runwire, UploadError } from '@runwire/client';
import { freePort, startTestServer, TEST_API_KEY, type TestServer } from '@runwire/test-kit';
import { FaultyProxy } from '@runwire/test-kit/faulty-proxy.ts';
import { DEFAULT_TIMING } from '../packages/client/src/timing.ts';
import { disturbedClient } from './support/disturbed-fetch.ts';
import { shop } from './support/shop-agency.ts';

/* The addresses and keys of the TypeScript client, and its calls over connections that break, against the real server. */

let server: TestServer;
before(async () => {
  server = await startTestServer({ agencies: { shop } });
});
after(() => server[Symbol.asyncDispose]());

test('refuses an invalid address when the client is made', () => {
  for (const baseUrl of ['', 'localhost:8787', 'ftp://localhost', 'http://', 'http://localhost?a=b', undefined]) {
    assert.throws(() => new Runwire({ baseUrl: baseUrl as string, apiKey: TEST_API_KEY }), {
      name: 'InvalidRequestError',
      message: `\`baseUrl\` is ${JSON.stringify(baseUrl)}; set RUNWIRE_URL to an address like http://127.0.0.1:8787.`,
    });
  }
  assert.throws(() => new Runwire({ baseUrl: server.url, apiKey: '' }), { message: /set RUNWIRE_API_KEY/ });
});

test('a server that never answered is given up early, with its address and the reason', async () => {
  assert.deepEqual([DEFAULT_TIMING.connectMs, DEFAULT_TIMING.giveUpMs], [10_000, 120_000]);
  const baseUrl = `http://127.0.0.1:${await freePort()}`;
  const timing = { connectMs: 100, giveUpMs: 3000, minPauseMs: 1, maxPauseMs: 20 };
  const nowhere = new Runwire({ baseUrl, apiKey: TEST_API_KEY, integration: 'demo', timing });
  const reason = `connect ECONNREFUSED ${baseUrl.slice(7)}`;
  const message = `No whole answer from ${baseUrl}: ${reason}; check \`baseUrl\` and proxies.`;
  await assert.rejects(nowhere.run({ message: 'Hi' }).text(), {
    name: 'ConnectionLostError',
    admitted: 'unknown',
    message,
  });
  await assert.rejects(nowhere.me.get(), { name: 'ConnectionLostError', handle: null, message });
  // A call that hangs is not repeated either.
  let calls = 0;
  const options = { integration: 'demo', timing: { ...timing, silenceMs: 200 } };
  const { client: hanging } = disturbedClient(baseUrl, options, ({ init }) => {
    calls += 1;
    return new Promise((_, reject) => init.signal?.addEventListener('abort', () => reject(init.signal?.reason)));
  });
  await assert.rejects(hanging.me.get(), { message: /: nothing arrived for 0\.2 s; check/ });
  await assert.rejects(hanging.run({ message: 'Hi' }).text(), { admitted: 'unknown', message: /: nothing arrived/ });
  assert.equal(calls, 2);
});

test('the error of another server is shown as text', async () => {
  for (const [body, shown] of [
    [{ error: { message: 'Incorrect API key provided.', code: 'invalid_api_key' } }, 'Incorrect API key provided.'],
    [{ error: 'Not found', code: 404 }, 'Not found'],
    [{ error: { status: 'down' } }, '{"error":{"status":"down"}}'],
  ] as const) {
    const { client: foreign } = disturbedClient(server.url, {}, async () => Response.json(body, { status: 400 }));
    const message = `Status 400, not from a Runwire server; check \`baseUrl\` and proxies: ${shown}`;
    await assert.rejects(foreign.me.get(), { code: 'unexpected_answer', message });
  }
});

test('a function that returns no token is named', async () => {
  for (const token of [undefined, '', { clientToken: 'eyJ' }, '<html> <p>Sign in</p>'] as string[]) {
    const { client: without, requests } = disturbedClient(server.url, { apiKey: async () => token }, ({ send }) =>
      send(),
    );
    for (const call of [without.me.get(), without.run({ message: 'Hi', apiIntegrationId: 'demo' }).text()]) {
      await assert.rejects(call, {
        name: 'AuthenticationError',
        message: 'The function `apiKey` returned no token.',
      });
    }
    assert.deepEqual(requests, []);
  }
});

test('a refused token is replaced once, and its answer is read to its end', async () => {
  const tokens = ['wrong', TEST_API_KEY];
  const answers: Response[] = [];
  const options = { apiKey: async () => tokens.shift() ?? '' };
  const { client: renewing } = disturbedClient(server.url, options, async ({ send }) => {
    const answer = await send();
    answers.push(answer);
    return answer;
  });
  await renewing.me.get();
  assert.deepEqual(
    answers.map(({ status, bodyUsed }) => [status, bodyUsed]),
    [
      [401, true],
      [200, true],
    ],
  );
});

test('a call without a whole answer is retried, and then lost', async () => {
  await using proxy = await FaultyProxy.start(server.url);
  const timing = { silenceMs: 500, minPauseMs: 1, maxPauseMs: 20 };
  const behind = new Runwire({ baseUrl: proxy.url, apiKey: TEST_API_KEY, integration: 'demo', timing });
  // This answer's headers have about 250 bytes.
  for (const fault of [
    { kind: 'silence', afterBytes: 330 },
    { kind: 'cut-answer', afterBytes: 330 },
  ] as const) {
    let requests = 0;
    proxy.plan = () => {
      requests += 1;
      return requests === 1 ? fault : null;
    };
    assert.equal((await behind.agencies.list().page()).items.length, 2);
    assert.equal(requests, 2, fault.kind);
  }
  let requests = 0;
  proxy.plan = () => {
    requests += 1;
    return { kind: 'silence', afterBytes: 330 };
  };
  const lost = { name: 'ConnectionLostError', code: 'connection_lost', status: null, handle: null, admitted: null };
  await assert.rejects(behind.agencies.list().page(), lost);
  assert.equal(requests, 4);
  proxy.plan = () => ({ kind: 'refuse' });
  await assert.rejects(behind.keys.create({}), lost);
  await assert.rejects(behind.me.get({}, { signal: AbortSignal.abort() }), { name: 'AbortError' });
});

test('a call waits for Retry-After, and leaves nothing at the signal', async () => {
  for (const [seconds, maxPauseMs, answered] of [
    [1, 2000, true],
    [60, 2000, false],
  ] as const) {
    let requests = 0;
    const timing = { minPauseMs: 1, maxPauseMs };
    const { client: patient } = disturbedClient(server.url, { timing }, async ({ send }) => {
      requests += 1;
      if (requests > 1) return await send();
      const headers = { 'Retry-After': String(seconds) };
      return Response.json({ error: 'Busy.', code: 'unavailable' }, { status: 503, headers });
    });
    const { signal } = new AbortController();
    const before = Date.now();
    const call = patient.me.get({}, { signal });
    if (answered) await call;
    else await assert.rejects(call, { code: 'unavailable', retryAfterSeconds: 60 });
    assert.equal(Date.now() - before >= 1000, answered);
    assert.equal(getEventListeners(signal, 'abort').length, 0);
  }
});

test('an upload that the storage never answers is an UploadError', async () => {
  await using proxy = await FaultyProxy.start(server.url);
  for (const fault of [{ kind: 'refuse' }, { kind: 'silence', afterBytes: 0 }] as const) {
    proxy.plan = () => fault;
    const timing = { silenceMs: 500, minPauseMs: 1 };
    const { client: away, requests } = disturbedClient(server.url, { integration: 'demo', timing }, ({ url, init }) =>
      fetch(url.pathname.startsWith('/uploads/') ? new URL(url.pathname, proxy.url) : url, init),
    );
    const upload = away.upload(new Blob(['abc']), { folder: '/app/mnt/u', name: 'a.txt' });
    await assert.rejects(upload, (error) => {
      assert.ok(error instanceof UploadError);
      assert.deepEqual([error.code, error.status, error.cause instanceof Error], ['upload_failed', null, true]);
      assert.match(error.message, /^http:\S+\/uploads\/\S+ did not take the file: no answer /);
      return true;
    });
    assert.equal(requests.filter((request) => request === 'POST /create_agency_upload').length, 2);
  }
});

test('a page may hold a client token, never a key, and a function is asked again shortly before the end', async (t) => {
  const client = new Runwire({ baseUrl: server.url, apiKey: TEST_API_KEY, integration: 'demo' });
  await client.members.put({ consumerId: 'ann' });
  const { clientToken } = await client.tokens.create({ consumerId: 'ann', expiresInSeconds: 60 });
  Object.assign(globalThis, { document: {} });
  try {
    const inPage = (apiKey: KeySource) => new Runwire({ baseUrl: server.url, apiKey });
    assert.throws(() => inPage(TEST_API_KEY), AuthenticationError);
    await assert.rejects(
      inPage(async () => TEST_API_KEY)
        .run({ message: 'Hi' })
        .text(),
      AuthenticationError,
    );
    let asked = 0;
    const page = inPage(async () => {
      asked += 1;
      return clientToken;
    });
    assert.match(await page.run({ message: 'Hi' }).text(), /You said: Hi/);
    await assert.rejects(page.members.get({ consumerId: 'ann' }), ForbiddenError);
    assert.equal(asked, 1);
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 50_000 });
    await page.run({ message: 'Hi' }).text();
    assert.equal(asked, 2);
  } finally {
    Reflect.deleteProperty(globalThis, 'document');
  }
});
