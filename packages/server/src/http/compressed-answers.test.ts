import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CompressedAnswers } from './compressed-answers.ts';

test('compresses two answers at a time, and sends further ones as they are', async () => {
  const answers = new CompressedAnswers();
  const begin = () => {
    const headers = new Headers({ 'content-type': 'application/json' });
    const reply = {
      getHeader: (name: string) => headers.get(name) ?? undefined,
      header: (name: string, value: string) => headers.set(name, value),
    };
    const request = { method: 'GET', headers: { 'accept-encoding': 'gzip' } };
    return answers.begin(request, reply as never, '"text"'.repeat(1000));
  };
  const first = [begin(), begin()];
  assert.equal(begin(), null);
  for (const bytes of await Promise.all(first)) assert.ok((bytes?.length ?? 0) < 500);
  assert.notEqual(await begin(), null);
});
