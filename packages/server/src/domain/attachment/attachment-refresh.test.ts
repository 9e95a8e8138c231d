import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ALLOW_NOTHING } from '@runwire/guarded-fetch/url-rules';
import { Refusal } from '../refusal.ts';
import { MAX_URL_CHARACTERS } from './attachment.ts';
import { type AttachmentRefresh, checkRefreshes, type EarlierUrls, readRefreshes } from './attachment-refresh.ts';

const NOW = Date.parse('2030-01-15T12:00:00Z');
const A = 'https://files.example.com/a.pdf';
const B = 'https://files.example.com/b.pdf';
const signed = (key: string, seconds: number) =>
  `${key}?X-Amz-Date=20300115T115000Z&X-Amz-Expires=${seconds}&X-Amz-Signature=hush`;
const expired = (key: string) => signed(key, 60);
const good = (key: string) => signed(key, 900);

const earlier = (withoutCopy: readonly string[] = [], known: readonly string[] = [A, B]): EarlierUrls => ({
  known: new Set(known),
  withoutCopy: withoutCopy.map((url) => ({ url, urlKey: url.replace(/\?.*/, '') })),
});

function read(given: Readonly<Record<string, string>>): readonly AttachmentRefresh[] {
  const refreshes = readRefreshes(given, ALLOW_NOTHING);
  if (refreshes instanceof Refusal) throw refreshes;
  return refreshes;
}

function unreadable(given: Readonly<Record<string, string>>, says: RegExp): void {
  const refusal = readRefreshes(given, ALLOW_NOTHING);
  assert.ok(refusal instanceof Refusal, JSON.stringify(given));
  assert.equal(refusal.code, 'invalid_attachment_refresh');
  assert.match(refusal.message, says);
  assert.ok(!refusal.message.includes('hush'), refusal.message);
}

function refused(given: Readonly<Record<string, string>>, of: EarlierUrls, says: RegExp): void {
  const refusal = checkRefreshes(read(given), of, NOW);
  assert.equal(refusal?.code, 'invalid_attachment_refresh');
  assert.match(refusal?.message ?? '', says);
  assert.ok(!refusal?.message.includes('hush'), refusal?.message);
}

const taken = (given: Readonly<Record<string, string>>, of: EarlierUrls) =>
  assert.equal(checkRefreshes(read(given), of, NOW), null);

test('keys a fresh link by the URL without query and fragment', () => {
  assert.deepEqual(read({}), []);
  assert.deepEqual(read({ [A]: `${A}?new=1#page=2` }), [{ urlKey: A, url: `${A}?new=1` }]);
  // The case of the host and a default port make no difference.
  assert.deepEqual(read({ 'https://FILES.example.com:443/a.pdf': `${A}?new=1` }), [{ urlKey: A, url: `${A}?new=1` }]);
});

test('refuses an invalid entry without showing its query', () => {
  unreadable({ [`${A}?sig=hush`]: `${A}?new` }, /^Entry 1 .* a key with a query or a fragment/);
  unreadable({ [`${A}#hush`]: `${A}?new` }, /a key with a query or a fragment/);
  unreadable({ [A]: good(A), [B]: 'https://files.example.com/c.pdf?hush' }, /^Entry 2 .* another host or path/);
  unreadable({ [A]: 'https://other.example.com/a.pdf?hush' }, /another host or path/);
  unreadable({ [A]: 'https://files.example.com:8443/a.pdf?hush' }, /has the port 8443/);
  unreadable({ [A]: 'https://files.example.com/A.pdf?hush' }, /another host or path/);
  unreadable({ [A]: 'http://files.example.com/a.pdf?hush' }, /must be an https URL/);
  unreadable({ [A]: 'https://ann:hush@files.example.com/a.pdf' }, /contains a user name or a password/);
  unreadable({ 'a.pdf': `${A}?hush` }, /a key that must be an https URL/);
  unreadable({ '': `${A}?hush` }, /a key that must be an https URL/);
  unreadable({ [A]: 'https://10.0.0.1/a.pdf?hush' }, /not on the public internet/);
  unreadable({ [A]: good(A), 'https://FILES.example.com/a.pdf': good(A) }, /a second time/);
  unreadable({ [A]: `${A}?${'x'.repeat(MAX_URL_CHARACTERS)}` }, /more than 8192 characters/);
});

test('a key must be an attachment of the chat, with or without a copy', () => {
  taken({ [A]: good(A) }, earlier());
  taken({ [A]: `${A}?token=whatever` }, earlier());
  refused({ [A]: good(A) }, earlier([], []), /names https:\/\/files\.example\.com\/a\.pdf, which is not an earlier/);
  refused({ [A]: good(A), [B]: good(B) }, earlier([], [A]), /b\.pdf, which is not an earlier/);
});

test('every file without a copy whose link has expired must be listed', () => {
  taken({}, earlier([]));
  taken({}, earlier([A, `${A}?token=1`, good(B)]));
  refused({}, earlier([expired(A)]), /must list https:\/\/files\.example\.com\/a\.pdf: its link has expired/);
  refused({ [B]: good(B) }, earlier([expired(A), expired(B)]), /must list .*a\.pdf/);
  taken({ [A]: good(A), [B]: good(B) }, earlier([expired(A), expired(B)]));
  // The file was attached twice, and one of the two links has expired.
  refused({}, earlier([good(A), expired(A)]), /must list .*a\.pdf/);
  taken({ [A]: good(A) }, earlier([good(A), expired(A)]));
  // Exact to the millisecond.
  refused({}, earlier([signed(A, 600)]), /must list/);
  taken({}, earlier([signed(A, 601)]));
});

test('refuses a fresh link that has expired', () => {
  refused({ [A]: expired(A) }, earlier([expired(A)]), /for https:\/\/files\.example\.com\/a\.pdf has expired too/);
});
