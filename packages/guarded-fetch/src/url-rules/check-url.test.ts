import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkFetchUrl, urlKey } from './check-url.ts';
import { ALLOW_NOTHING, parseFetchAllow } from './fetch-allow.ts';
import { sameHostAndPath } from './same-place.ts';

const getProblem = (text: string, allow = ALLOW_NOTHING): string | null => {
  const checked = checkFetchUrl(text, allow);
  return 'problem' in checked ? checked.problem : null;
};

test('accepts https URLs as people and signers write them', () => {
  for (const text of [
    'https://example.com',
    'https://example.com/a.png',
    'HTTPS://EXAMPLE.com:443/a%20b.png?X-Amz-Signature=abc&x=1#frag',
    'https://example.com/grün/ü.pdf?q=ä',
    'https://müller.example/a.pdf',
    'https://my_bucket.s3.eu-central-1.amazonaws.com/a//b/../c;v=1?a[]=b',
    'https://example.com?x=1',
    'https://8.8.8.8/a',
    'https://[2001:4860:4860::8888]/a',
    'https://example.com/@user/file?mail=a@b.c',
  ]) {
    assert.equal(getProblem(text), null, text);
  }
});

test('reports for each text what is wrong with it', () => {
  for (const [text, problem] of [
    ['', /must be an https URL/],
    ['http://example.com/', /must be an https URL/],
    ['data:text/plain,a', /must be an https URL/],
    ['example.com/a', /must be an https URL/],
    ['//example.com/a', /must be an https URL/],
    ['https:example.com', /must be an https URL/],
    ['https:/example.com', /must be an https URL/],
    ['https:///example.com', /must be an https URL/],
    ['https://', /must be an https URL/],
    ['https://?x', /must be an https URL/],
    ['https://example.com:65536/', /must be an https URL/],
    ['https://a b.example/', /white space/],
    [' https://example.com/', /white space/],
    ['https://example.com/\n', /white space/],
    ['https://exam\tple.com/', /white space/],
    ['https://example.com/a\u00a0b', /white space/],
    ['\u0000https://example.com/', /control characters/],
    ['https://example.com/\ud800', /surrogate/],
    ['https:\\\\example.com', /backslash/],
    ['https://example.com\\@evil.example/', /backslash/],
    ['https://user@example.com/', /user name or a password/],
    ['https://:@example.com/', /user name or a password/],
    ['https://@example.com/', /user name or a password/],
    ['https://ex%61mple.com/', /percent-encoded host/],
    ['https://exa\u00admple.com/', /invisible/],
    ['https://\u200bexample.com/', /invisible/],
    ['https://example.com:/', /colon/],
    ['https://example.com:8443/', /port 8443/],
    ['https://example.com:0/', /port 0/],
    ['https://localhost./', /ends with a dot/],
    ['https://a..example/', /not a DNS name/],
    [`https://${'a'.repeat(64)}.example/`, /not a DNS name/],
    [`https://${'a.'.repeat(130)}example/`, /not a DNS name/],
    ['https://a,b.example/', /not a DNS name/],
    ['https://127.0.0.1/', /not on the public internet/],
    ['https://[::1]/', /not on the public internet/],
    ['https://0x7f.1/', /not on the public internet/],
  ] as const) {
    const found = getProblem(text);
    assert.ok(found !== null, text);
    assert.match(found, problem, text);
  }
});

test('accepts what the operator allows by name, address or port', () => {
  const allow = parseFetchAllow('files.test:8443 127.0.0.1 10.0.0.0/8:9000');
  for (const text of [
    'https://files.test:8443/',
    'https://FILES.test:8443/',
    'https://127.0.0.1/',
    'https://0x7f.1/',
    'https://10.1.2.3:9000/',
    // The name may resolve to an address in the range.
    'https://other.test:9000/',
  ]) {
    assert.equal(getProblem(text, allow), null, text);
  }
  for (const text of [
    'https://other.test:8443/',
    'https://127.0.0.1:8443/',
    'https://10.1.2.3/',
    'https://8.8.8.8:9000/',
  ]) {
    assert.notEqual(getProblem(text, allow), null, text);
  }
});

test('the key of a URL has neither query nor fragment', () => {
  assert.equal(urlKey(new URL('https://EXAMPLE.com:443/a/../b c?sig=1#x')), 'https://example.com/b%20c');
  assert.equal(urlKey(new URL('https://example.com:8443?sig=1')), 'https://example.com:8443/');
});

test('a fresh link has the host and the path of the earlier one', () => {
  const key = 'https://files.example.com/u/42/photo.png';
  const problem = (of: string, value: string) => sameHostAndPath(of, value, ALLOW_NOTHING);
  assert.equal(problem(key, `${key}?sig=new#page`), null);
  assert.equal(problem(key, 'https://FILES.example.com:443/u/42/photo.png?sig=1'), null);
  assert.match(problem(`${key}?sig=old`, key) ?? '', /key with a query/);
  assert.match(problem(`${key}#`, key) ?? '', /key with a query/);
  assert.match(problem('__proto__', key) ?? '', /has a key that must be an https URL/);
  assert.match(problem(key, 'http://files.example.com/u/42/photo.png') ?? '', /has a link that must be an https URL/);
  assert.match(problem(key, `${key}/`) ?? '', /another host or path/);
  assert.match(problem(key, 'https://other.example.com/u/42/photo.png') ?? '', /another host or path/);
  const allow = parseFetchAllow('files.example.com:8443');
  assert.match(sameHostAndPath(key, 'https://files.example.com:8443/u/42/photo.png', allow) ?? '', /another host/);
});
