import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '@runwire/server/testing';
import { lastWords, type TestReport } from '../scripts/test-report.ts';
import { root } from './support/cli-process.ts';

const FAILING = `
import { test } from 'node:test';
test('a claim that holds', () => {});
test('a claim that does not', () => { throw new Error('what was found'); });
test('a claim of parts', async (t) => {
  await t.test('the part that does not hold', () => { throw new Error('what the part found'); });
});
`;

test('the gate ends with what failed and why, each once, and with the files that took longest', (t) => {
  const folder = temporaryFolder();
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const [failing, broken, report] = ['a.test.mjs', 'b.test.mjs', 'report.json'].map((name) => join(folder, name));
  assert.ok(failing && broken && report);
  writeFileSync(failing, FAILING);
  writeFileSync(broken, 'process.exit(3);');
  const reporter = [
    `--test-reporter=${join(root, 'scripts/test-reporter.config.ts')}`,
    `--test-reporter-destination=${report}`,
  ];
  const env = { ...process.env };
  // Set by the runner that runs this test; a runner below it would take itself for one of its files.
  delete env.NODE_TEST_CONTEXT;
  const { status } = spawnSync(process.execPath, ['--test', ...reporter, failing, broken], { env });
  assert.equal(status, 1);
  const found: TestReport = JSON.parse(readFileSync(report, 'utf8'));
  assert.deepEqual(
    found.failed.map(({ name, error }) => [name, error.split('\n')[0]]),
    [
      ['a claim that does not', 'Error: what was found'],
      ['the part that does not hold', 'Error: what the part found'],
      [broken, 'test failed'],
    ],
  );
  const words = lastWords(found);
  assert.match(words, /^slowest files:\n +\d+\.\d s {2}\S*a\.test\.mjs\n/);
  assert.match(words, /\n3 failed:\n/);
  assert.match(words, /\n✖ a claim that does not\n {2}\S*a\.test\.mjs:4\n {4}Error: what was found\n {8}at /);
  assert.doesNotMatch(words, /node:internal/);
  assert.match(words, /test failed\n$/);
});
