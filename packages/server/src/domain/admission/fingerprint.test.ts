import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { fingerprint } from './fingerprint.ts';

const body = { apiIntegrationId: 'demo', message: 'Hi', user_context: { a: 1, b: [1, { c: null }] } };
const same = (a: object, b: object) => assert.equal(fingerprint({ ...a }), fingerprint({ ...b }));
const differs = (a: object, b: object) => assert.notEqual(fingerprint({ ...a }), fingerprint({ ...b }));

/** The same value with every object's members in another order. */
function reordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reordered);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, entry]) => [key, reordered(entry)]),
  );
}

const names = fc.string({ minLength: 1, maxLength: 3 }).filter((name) => !/^\d+$/.test(name) && name !== '__proto__');
const context = fc.dictionary(names, fc.jsonValue({ maxDepth: 3 }).map(reordered), { maxKeys: 5 });

test('the order of keys does not matter, at any depth', () => {
  same(body, { user_context: { b: [1, { c: null }], a: 1 }, message: 'Hi', apiIntegrationId: 'demo' });
  fc.assert(
    fc.property(context, (user_context) => {
      same({ ...body, user_context }, reordered({ ...body, user_context }) as object);
    }),
  );
});

test('another value makes another fingerprint', () => {
  fc.assert(
    fc.property(context, context, (one, other) => {
      // Compared as JSON, which has only one zero.
      const equal = JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
      (equal ? same : differs)({ user_context: one }, { user_context: other });
    }),
  );
  differs({ message: 'a' }, { message: 'b' });
  differs({ message: 'é' }, { message: 'e\u0301' });
  differs({ message: 'a', agent: 'b' }, { message: 'a', consumerId: 'b' });
  differs({ user_context: '{"a":1}' }, { user_context: { a: 1 } });
  differs({ user_context: { a: '1' } }, { user_context: { a: 1 } });
  differs({ user_context: [1, 2] }, { user_context: [2, 1] });
  differs({ message: 'a","agent":"b' }, { message: 'a', agent: 'b' });
});

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, entry]) => [key, 'of', sorted(entry)]);
}

test('null equals absent at the top level and nowhere else', () => {
  same(body, { ...body, agent: null, consumerId: undefined });
  differs({ user_context: { a: null } }, { user_context: {} });
  differs({ user_context: [null] }, { user_context: [] });
  differs({ user_context: { a: null } }, { user_context: null });
  differs({ user_context: '' }, { user_context: null });
  differs({ attachments: [] }, {});
});

test('the query strings of attachment URLs do not matter, the rest of them does', () => {
  const file = (url: string) => ({ attachments: [{ type: 'input_file', file_url: url }] });
  const image = (url: string) => ({ attachments: [{ type: 'input_image', image_url: url }] });
  same(file('https://h/a?sig=1'), file('https://h/a?sig=2'));
  same(file('https://h/a'), file('https://h/a?sig=2'));
  same(image('https://h/a?x#f'), image('https://h/a#f'));
  differs(file('https://h/a'), file('https://h/b'));
  differs(file('https://h/a#1'), file('https://h/a#2'));
  differs(file('https://h/a#f?1'), file('https://h/a#f?2'));
  differs(file('https://h/a?x#f?1'), file('https://h/a?x#f?2'));
  differs(file('https://h/a?@x/b'), file('https://x/b'));
  differs(file('https://h/a'), image('https://h/a'));
  differs(image('data:image/png;base64,AA?1'), image('data:image/png;base64,AA?2'));
  differs({ user_context: 'https://h/a?1' }, { user_context: 'https://h/a?2' });
});

test('refreshed links, the chat id and the alias are left out', () => {
  same(body, { ...body, attachmentUrlRefreshes: { 'https://h/a': 'https://h/a?2' }, chatId: 'c', aliasChatId: 'a' });
  differs(body, { ...body, usageRequestId: 'u' });
});
