import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cites } from '../requirements/cite.ts';
import { missingService } from '../test/support/services.ts';
import { runProof } from './support/run-proof.ts';
import { readCalls } from './support/strace.ts';

const skip = (await missingService('strace')) ?? false;

test('a file whose server is killed on the way is there whole or not at all, and nothing is left over', {
  skip,
}, async (t) => {
  cites(t, 'contract-7-upload-atomic');
  const { code, stdout, stderr } = await runProof('upload-kill');
  assert.equal(code, 0, stderr);
  assert.match(
    stdout,
    /^PROVED upload-kill points=3 whole=1 absent=2 left_over=[1-9]\d* after_sweep=0 syncs=[2-9]\d*\n$/m,
  );
});

test('sees a server that writes a file in its place and syncs nothing', { skip }, async () => {
  const { code, stdout, stderr } = await runProof('upload-kill', '--fault', 'plain-writes');
  assert.equal(code, 1, stdout);
  assert.match(stderr, /^sync of the file: expected before the answer, found none\.$/m);
});

test('reads calls that were interrupted by others', () => {
  const text = [
    '11 fsync(5</a/drafts/x> <unfinished ...>',
    '12 write(7<socket:[1]>, "HTTP", 4) = 4',
    '11 <... fsync resumed>) = 0',
    '12 rename("/a", "/b") = -1 ENOENT (No such file or directory)',
  ].join('\n');
  assert.deepEqual(
    readCalls(text).map(({ name, begunAt, doneAt }) => [name, begunAt, doneAt]),
    [
      ['write', 1, 1],
      ['fsync', 0, 2],
    ],
  );
});
