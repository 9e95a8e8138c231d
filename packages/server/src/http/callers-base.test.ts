import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refusal } from '../domain/refusal.ts';
import { callersBase } from './callers-base.ts';

const base = (host: string | undefined, publicUrl: string | null = null, more: Record<string, string> = {}) =>
  callersBase({ headers: { ...(host === undefined ? {} : { host }), ...more }, protocol: 'http' }, publicUrl);

test('uses the setting, otherwise the scheme and host of the request', () => {
  assert.equal(base('localhost:8787'), 'http://localhost:8787');
  assert.equal(base('[::1]:8787'), 'http://[::1]:8787');
  assert.equal(base('Agents.example.com:80'), 'http://agents.example.com');
  assert.equal(base('evil example', 'https://agents.example.com/api'), 'https://agents.example.com/api');
});

test('ignores forwarding headers, which every client can send', () => {
  const forwarded = {
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'https',
    forwarded: 'host=evil.example',
  };
  assert.equal(base('localhost', null, forwarded), 'http://localhost');
});

test('refuses a Host header that is not a host', () => {
  for (const host of [
    undefined,
    '',
    ' ',
    'a b',
    'a/b',
    'a@b',
    'a?b',
    'a#b',
    'a:b',
    'a:99999',
    '"',
    '<a>',
    '[::1',
    'é.example',
    'a\\b',
  ]) {
    assert.throws(
      () => base(host),
      (error) => error instanceof Refusal && error.code === 'invalid_request' && /`Host`/.test(error.message),
      host,
    );
  }
});
