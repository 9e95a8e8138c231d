import { test } from 'node:test';
import { requestedFile } from '../files/requested-path.ts';
import { storedPath } from '../store/queries/files.ts';

test('a path that was not checked does not compile', () => {
  storedPath(requestedFile('path', '/app/mnt/a.txt'));
  // @ts-expect-error It is a text of a caller.
  storedPath('../a.txt');
});
