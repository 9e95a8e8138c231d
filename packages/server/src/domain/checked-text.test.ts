import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestedFile } from '../files/requested-path.ts';
import { activeRunOfIntegration } from '../store/queries/accounts.ts';
import { storedPath } from '../store/queries/files.ts';
import type { Reads } from '../store/store.ts';
import { newIntegrationId } from './ids.ts';

test('a path that was not checked does not compile', () => {
  storedPath(requestedFile('path', '/app/mnt/a.txt'));
  // @ts-expect-error It is a text of a caller.
  storedPath('../a.txt');
});

test('the id of an integration whose owner was not checked does not compile', () => {
  const read = (reads: Reads) => [
    reads.all(activeRunOfIntegration, { integrationId: newIntegrationId('mine') }),
    // @ts-expect-error It is a text of a caller.
    reads.all(activeRunOfIntegration, { integrationId: 'theirs' }),
  ];
  assert.equal(read.length, 1);
});
