import assert from 'node:assert/strict';
import { test } from 'node:test';
import { comparedFields, listedFields, nearestField, unknownFields } from './unknown-fields.ts';

const FIELDS = ['message', 'agent', 'chatId', 'aliasChatId', 'user_context', 'usageRequestId'];

test('a name is near a field without case, `_`, `-`, or one edit apart', () => {
  for (const [name, field] of [
    ['usageRequestID', 'usageRequestId'],
    ['usage_request_id', 'usageRequestId'],
    ['USAGE-REQUEST-ID', 'usageRequestId'],
    ['__usageRequestId--', 'usageRequestId'],
    ['userContext', 'user_context'],
    ['usageRequestIds', 'usageRequestId'],
    ['sageRequestId', 'usageRequestId'],
    ['usagRequestId', 'usageRequestId'],
    ['usageRequestIb', 'usageRequestId'],
    ['usaegRequestId', 'usageRequestId'],
    ['usageRequestdI', 'usageRequestId'],
    ['messages', 'message'],
    ['essage', 'message'],
    ['mesasge', 'message'],
    ['message😀', 'message'],
    ['m😀ssage', 'message'],
    [`${'_'.repeat(100_000)}chat-id`, 'chatId'],
  ] as const) {
    assert.equal(nearestField(name, comparedFields(FIELDS)), field, name);
  }
});

test('a name two edits away, or with too many characters, is near no field', () => {
  for (const name of ['', '_', 'usageId', 'msg', 'mssag', 'messagess', 'emssaeg', 'ent', 'metadata', 'x'.repeat(1e6)]) {
    assert.equal(nearestField(name, comparedFields(FIELDS)), null, name.slice(0, 20));
  }
});

test('an equal name wins over a name that is an edit apart', () => {
  assert.equal(nearestField('CHATID', comparedFields(['chatIds', 'chatId'])), 'chatId');
});

test('unknown fields keep their order; `meta` lists 20 of 64 characters', () => {
  const body = { b: 1, message: '', a: 1, ['😀'.repeat(70)]: 1, ['x'.repeat(65)]: 1 };
  const unknown = unknownFields(body, new Set(FIELDS));
  assert.deepEqual(unknown.slice(0, 2), ['b', 'a']);
  assert.deepEqual(listedFields(unknown).slice(2), ['😀'.repeat(64), 'x'.repeat(64)]);
  assert.equal(listedFields(Array.from({ length: 25 }, (_, i) => `f${i}`)).at(-1), 'f19');
});
