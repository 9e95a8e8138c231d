import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operations } from '@runwire/contract/schemas';
import { CompressedAnswers } from './compressed-answers.ts';

test('compresses two answers at a time, and the next one after them', async () => {
  const answers = new CompressedAnswers();
  const order: string[] = [];
  const begin = async (name: string, times: number) => {
    const headers = new Headers({ 'content-type': 'application/json' });
    const reply = {
      getHeader: (header: string) => headers.get(header) ?? undefined,
      header: (header: string, value: string) => headers.set(header, value),
    };
    const routeOptions = { config: { operation: operations.listRuns } };
    const request = { headers: { 'accept-encoding': 'gzip' }, routeOptions };
    const bytes = await answers.begin(request as never, reply as never, '"text"'.repeat(times));
    order.push(name);
    return bytes?.length ?? 0;
  };
  // Concurrently, the short one would be ready long before the others.
  const sizes = await Promise.all([begin('long', 1_000_000), begin('long', 1_000_000), begin('short', 1000)]);
  assert.notEqual(order[0], 'short');
  assert.ok((sizes[2] ?? 0) < 500, `${sizes}`);
});

test('no answer with a key, a token, a secret, a signed form or a set-up link is compressed', () => {
  const withSecrets = Object.values(operations).flatMap(({ operationId, example }) =>
    /"(apiKey|clientToken|secret|setupLink|uploadFields)":/.test(JSON.stringify('answer' in example && example.answer))
      ? [operationId]
      : [],
  );
  const marked = Object.values(operations).flatMap(({ operationId, ...operation }) =>
    'returnsSecret' in operation ? [operationId] : [],
  );
  assert.deepEqual(withSecrets, marked);
  assert.equal(marked.length, 6);
});
