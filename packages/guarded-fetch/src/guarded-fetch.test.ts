import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { answers, assertAllDestroyed, failure, guarded, names, never, PUBLIC } from '@runwire/test-kit/guarded-rig.ts';
import { cites } from '../../../requirements/cite.ts';
import { GuardedFetcher } from './guarded-fetch.ts';
import { ownAddresses } from './own-addresses.ts';
import { httpAnswer, type Names, type Serve, WatchedNetwork } from './testing/watched-network.ts';
import { ALLOW_NOTHING, parseFetchAllow } from './url-rules/fetch-allow.ts';

test('fetches from a public host, sends only plain headers and closes the connection', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const before = timers();
  const { network, fetch } = guarded(answers(httpAnswer(200, { 'content-type': 'text/csv; charset=x' }, 'a,b')));
  const { bytes, contentType, url } = await fetch('https://a.test/x%20y.csv?sig=secret#part');
  assert.equal(Buffer.from(bytes).toString(), 'a,b');
  assert.equal(bytes.buffer.byteLength, 3);
  assert.equal(contentType, 'text/csv; charset=x');
  assert.equal(url.href, 'https://a.test/x%20y.csv?sig=secret#part');
  assert.deepEqual(network.dialled, [{ address: PUBLIC, port: 443, servername: 'a.test' }]);
  assert.deepEqual(network.requests, [
    'GET /x%20y.csv?sig=secret HTTP/1.1\r\nhost: a.test\r\nuser-agent: Runwire\r\naccept: */*\r\naccept-encoding: identity\r\nconnection: close\r\n\r\n',
  ]);
  assertAllDestroyed(network);
  assert.deepEqual([timers(), getEventListeners(never, 'abort')], [before, []]);
});

test('reads a chunked body and a body that ends with its connection', async () => {
  const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n';
  const first = await guarded(answers(chunked)).fetch('https://a.test/');
  assert.equal(Buffer.from(first.bytes).toString(), 'abcde');
  const second = await guarded((_, connection) => connection.end('HTTP/1.1 200 OK\r\n\r\nabc')).fetch(
    'https://a.test/',
  );
  assert.equal(Buffer.from(second.bytes).toString(), 'abc');
});

test('accepts an answer without a content coding', async () => {
  for (const coding of ['identity', 'Identity', '']) {
    const { bytes } = await guarded(answers(httpAnswer(200, { 'content-encoding': coding }, 'abc'))).fetch(
      'https://a.test/',
    );
    assert.equal(bytes.length, 3, coding);
  }
  assert.equal((await guarded(answers(httpAnswer(200))).fetch('https://a.test/')).bytes.length, 0);
});

test('reads a body of many pieces completely', async () => {
  const piece = Buffer.alloc(50_000, 'x');
  const serve: Serve = (_, connection) => {
    connection.write('HTTP/1.1 200 OK\r\n\r\n');
    for (let pieces = 0; pieces < 9; pieces += 1) connection.write(piece);
    connection.end();
  };
  const { bytes } = await guarded(serve, { maxBytes: 450_000 }).fetch('https://a.test/');
  assert.equal(bytes.length, 450_000);
  assert.equal((await failure(guarded(serve, { maxBytes: 449_999 }).fetch('https://a.test/'))).kind, 'too_large');
});

test('reports the announced size before the body', async () => {
  const sizes: number[] = [];
  const network = new WatchedNetwork(names, answers(httpAnswer(200, {}, 'abc')));
  const fetcher = new GuardedFetcher({ allow: ALLOW_NOTHING, maxBytes: 3, maxMs: 60_000, network });
  await fetcher.fetch(new URL('https://a.test/'), never, (bytes) => sizes.push(bytes));
  assert.deepEqual(sizes, [3]);
});

test('refuses a host if one of its addresses is not public, and dials none', async (t) => {
  cites(t, 'contract-7-fetcher');
  for (const bad of ['127.0.0.1', '10.0.0.5', '::1', 'fd00::1', '::ffff:127.0.0.1', '64:ff9b::a00:1', 'nonsense']) {
    const { network, fetch } = guarded(answers(httpAnswer(200)), { names: { 'a.test': [[PUBLIC, bad]] } });
    assert.equal((await failure(fetch('https://a.test/?sig=secret'))).kind, 'refused', bad);
    assert.deepEqual(network.dialled, []);
  }
});

test('dials no address of this machine unless it is allowed', async () => {
  const ownAddresses = () => [PUBLIC, '2606:4700::5'];
  const file = answers(httpAnswer(200, {}, 'x'));
  const names = { 'a.test': [[PUBLIC]], 'six.test': [['2606:4700::5']], 'b.test': [['104.16.0.1']] };
  for (const host of ['a.test', 'six.test', PUBLIC, '[2606:4700::5]']) {
    const { network, fetch } = guarded(file, { names, ownAddresses });
    const { kind, isFinal, message } = await failure(fetch(`https://${host}/`));
    assert.deepEqual([kind, isFinal, network.dialled], ['refused', true, []], host);
    assert.match(message, /or is this server itself; .* the list of allowed hosts$/);
  }
  for (const form of [`::ffff:${PUBLIC}`, '64:ff9b::5db8:d822']) {
    const { fetch } = guarded(file, { names: { 'a.test': [[form]] }, ownAddresses });
    assert.equal((await failure(fetch('https://a.test/'))).kind, 'refused', form);
  }
  assert.equal((await guarded(file, { names, ownAddresses }).fetch('https://b.test/')).bytes.length, 1);
  for (const text of ['a.test', PUBLIC]) {
    const allow = parseFetchAllow(text);
    assert.equal((await guarded(file, { names, ownAddresses, allow }).fetch('https://a.test/')).bytes.length, 1, text);
  }
});

test('reads the addresses of this machine by default', () => {
  assert.ok(ownAddresses().includes('127.0.0.1'));
});

test('resolves once for each hop: a second answer is never dialled', async () => {
  const { network, fetch } = guarded(answers(httpAnswer(200, {}, 'x')), {
    names: { 'a.test': [[PUBLIC], ['127.0.0.1']] },
  });
  await fetch('https://a.test/');
  assert.deepEqual(network.resolved, ['a.test']);
  assert.deepEqual(
    network.dialled.map(({ address }) => address),
    [PUBLIC],
  );
  assert.equal((await failure(fetch('https://a.test/'))).kind, 'refused');
});

test('tries the next checked address if one cannot be reached', async () => {
  const watched = new WatchedNetwork({ 'a.test': [['2606:4700::1', PUBLIC]] }, answers(httpAnswer(200, {}, 'x')));
  const tried: string[] = [];
  const network = {
    resolve: watched.resolve.bind(watched),
    dial: (to: Parameters<WatchedNetwork['dial']>[0]) => {
      tried.push(to.address);
      return to.address === PUBLIC ? watched.dial(to) : Promise.reject(new Error('ENETUNREACH 2606:4700::1'));
    },
  };
  await guarded(answers(''), { network }).fetch('https://a.test/');
  assert.deepEqual(tried, ['2606:4700::1', PUBLIC]);
  const dead = { ...network, dial: () => Promise.reject(new Error('ECONNREFUSED 93.184.216.34:443')) };
  assert.equal((await failure(guarded(answers(''), { network: dead }).fetch('https://a.test/'))).kind, 'unreachable');
});

test('an unknown name and a failed lookup are both unresolved', async () => {
  assert.equal((await failure(guarded(answers('')).fetch('https://unknown.test/'))).kind, 'unresolved');
  const network = { resolve: () => Promise.reject(new Error('SERVFAIL')), dial: () => assert.fail('dialled') };
  assert.equal((await failure(guarded(answers(''), { network }).fetch('https://a.test/'))).kind, 'unresolved');
});

test('follows three redirects, also relative ones, and no fourth', async () => {
  const serve: Serve = (request, connection) => {
    const hops = Number(/GET \/(\d)/.exec(request)?.[1]);
    const onwards = hops % 2 === 0 ? `/${hops - 1}` : `https://b.test/${hops - 1}`;
    connection.write(hops === 0 ? httpAnswer(200, {}, 'there') : httpAnswer(302, { location: onwards }));
  };
  const { network, fetch } = guarded(serve);
  assert.equal((await fetch('https://a.test/3')).url.href, 'https://b.test/0');
  assert.deepEqual(network.resolved, ['a.test', 'b.test', 'b.test', 'b.test']);
  assertAllDestroyed(network);
  assert.equal((await failure(fetch('https://a.test/4'))).kind, 'redirects');
});

test('checks the text and the addresses of each redirect', async (t) => {
  cites(t, 'contract-7-fetcher');
  const places = [
    'http://b.test/',
    'https://127.0.0.1/',
    'https://[::1]/',
    'https://2130706433/',
    '//0x7f.1/',
    'https://inside.test/',
    '//inside.test/a',
    'https://b.test:8443/',
    'https://user:secret@b.test/',
    'file:///etc/passwd',
    'https:b.test',
    '\\\\b.test\\a',
    '/a b',
    'https://b.test/ a',
    'data:text/plain,a',
    '//',
  ];
  for (const location of places) {
    const { network, fetch } = guarded(answers(httpAnswer(302, { location })));
    assert.equal((await failure(fetch('https://a.test/'))).kind, 'refused', location);
    assert.equal(network.dialled.length, 1, location);
  }
  const lost = guarded(answers(httpAnswer(302)));
  assert.equal((await failure(lost.fetch('https://a.test/'))).kind, 'broken');
});

test('reads a Location in UTF-8', async () => {
  const serve: Serve = (request, connection) =>
    void connection.write(
      request.startsWith('GET / ') ? httpAnswer(301, { location: '/grün' }) : httpAnswer(200, {}, 'x'),
    );
  assert.equal((await guarded(serve).fetch('https://a.test/')).url.pathname, '/gr%C3%BCn');
});

test('accepts only status 200', async () => {
  for (const status of [201, 204, 206, 300, 304, 305, 400, 401, 403, 404, 407, 429, 500, 503]) {
    const { network, fetch } = guarded(
      answers(httpAnswer(status, { refresh: '0; url=https://127.0.0.1/', 'www-authenticate': 'Negotiate' })),
    );
    const failed = await failure(fetch('https://a.test/'));
    assert.deepEqual([failed.kind, failed.status], ['status', status]);
    assert.equal(network.requests.length, 1);
  }
});

test('refuses a file that is too large by its header, or else by its bytes', async () => {
  const declared = guarded(answers('HTTP/1.1 200 OK\r\ncontent-length: 10737418240\r\n\r\n'));
  assert.equal((await failure(declared.fetch('https://a.test/'))).kind, 'too_large');
  const endless: Serve = (_, connection) => {
    const more = () => {
      while (!connection.destroyed && connection.write('x'.repeat(500)));
      connection.once('drain', more);
    };
    connection.write('HTTP/1.1 200 OK\r\n\r\n');
    more();
  };
  const { network, fetch } = guarded(endless);
  assert.equal((await failure(fetch('https://a.test/'))).kind, 'too_large');
  assertAllDestroyed(network);
});

test('fails if the answer is cut, compressed or not HTTP', async () => {
  const broken = [
    'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nabc\r\n',
    'HTTP/1.1 200 OK\r\ncontent-len',
    'HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\nabcd',
    'HTTP/1.1 200 OK\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    'HTTP/1.1 302 Found\r\nlocation: https://b.test/\r\n X-Injected: 1\r\n\r\n',
    'HTTP/1.1 302 Found\r\nlocation: https://b.test/\rX-Injected: 1\r\n\r\n',
    'just bytes',
    '',
    `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(1_048_576)}\r\n\r\nabc`,
    `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(50_000)}\r\nabc`,
    'HTTP/1.1 103 Early\r\n\r\n'.repeat(100),
    'HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\nabc',
    httpAnswer(200, { 'content-encoding': 'gzip' }, 'abc'),
    'HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n',
  ];
  for (const text of broken) {
    const { network, fetch } = guarded((_, connection) => connection.end(text));
    const shown = text.slice(0, 80);
    assert.equal((await failure(fetch('https://a.test/'))).kind, 'broken', shown);
    assert.equal(network.dialled.length, 1, shown);
    assertAllDestroyed(network);
  }
});

test('dials an allowed address only on its port', async (t) => {
  cites(t, 'contract-7-fetcher');
  const serve = answers(httpAnswer(200, {}, 'x'));
  const allow = parseFetchAllow('10.0.0.0/8:8443 inside.test loop.test:444 127.0.0.1');
  const own: Names = { 'loop.test': [['127.0.0.1', '::1']], 'mixed.test': [['10.0.0.5', PUBLIC]] };
  for (const url of [
    'https://inside.test/',
    'https://inside.test:8443/',
    'https://loop.test:444/',
    'https://127.0.0.1/',
    'https://10.1.2.3:8443/',
  ]) {
    const { network, fetch } = guarded(serve, { allow, names: own });
    await fetch(url);
    assert.equal(network.dialled.length, 1, url);
  }
  const nonsense = guarded(serve, { allow, names: { 'inside.test': [['other.name']] } });
  assert.equal((await failure(nonsense.fetch('https://inside.test/'))).kind, 'refused');
  assert.deepEqual(nonsense.network.dialled, []);
  for (const url of [
    'https://10.1.2.3/',
    'https://loop.test/',
    'https://loop.test:8443/',
    'https://127.0.0.1:8443/',
    'https://mixed.test:8443/',
    'https://a.test:8443/',
    'https://inside.test:444/',
  ]) {
    const { network, fetch } = guarded(serve, { allow, names: own });
    assert.equal((await failure(fetch(url))).kind, 'refused', url);
    assert.deepEqual(network.dialled, [], url);
  }
});
