import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memberName } from './member-name.ts';

test('removes query, fragment and user from a name that looks like a URL', () => {
  for (const [name, shown] of [
    ['https://a.example/a?SECRET', 'https://a.example/a'],
    ['https://a.example/a#SECRET', 'https://a.example/a'],
    ['HTTPS://a.example?SECRET\n?MORE', 'HTTPS://a.example'],
    ['https:a.example/a?SECRET', 'https:a.example/a'],
    ['https:\\\\a.example\\a?SECRET', 'https:\\\\a.example\\a'],
    [' https://a.example/a?SECRET', ' https://a.example/a'],
    ['//a.example/a?SECRET', '//a.example/a'],
    ['x//a.example/a?SECRET', 'x//a.example/a'],
    ['https://me:SECRET@a.example/a@b', 'https://a.example/a@b'],
    ['//me:SECRET@a.example/', '//a.example/'],
  ] as const) {
    assert.equal(memberName(name), shown);
  }
});

test('shows other names unchanged and shortens long ones', () => {
  for (const name of ['', 'message', 'is this it?', 'a/b?c', 'me@a.example', 'x'.repeat(200)]) {
    assert.equal(memberName(name), name);
  }
  assert.equal(memberName('x'.repeat(201)), `${'x'.repeat(200)}…`);
  assert.equal(memberName(`${'x'.repeat(199)}😀`), `${'x'.repeat(199)}…`);
  assert.equal(memberName(`https://a.example/${'a'.repeat(20_000_000)}?SECRET`).length, 201);
});
