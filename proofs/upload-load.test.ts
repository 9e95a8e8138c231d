import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingService } from '../test/support/services.ts';
import { runProof } from './support/run-proof.ts';

const skip = (await missingService('nginx')) ?? false;

test('many large files at once take little memory and arrive whole', { skip }, async () => {
  const { code, stdout, stderr } = await runProof('upload-load');
  assert.equal(code, 0, stderr);
  assert.match(
    stdout,
    /^PROVED upload-load uploads=8 bytes=167772160 growth_mb=\d+ mb_per_s=\d+ nginx_mb_per_s=\d+\n$/m,
  );
});

test('sees a server that holds whole files in memory', { skip }, async () => {
  const { code, stdout, stderr } = await runProof('upload-load', '--fault', 'hold-files');
  assert.equal(code, 1, stdout);
  assert.match(stderr, /^growth in MB: expected at most 100, found \d+\.$/m);
});
