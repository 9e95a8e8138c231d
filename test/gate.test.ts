import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '@runwire/test-kit';
import { differences, leftOut, misplacements, type Pass, passLine, timesLines } from '../scripts/compare-stores.ts';
import { childrenSeconds } from '../scripts/processor-time.ts';
import { allTestFiles, filesOf, ONE_STORE, type PassName, STARTS_NO_SERVER } from '../scripts/test-passes.ts';
import { lastWords, type TestReport } from '../scripts/test-report.ts';
import { root } from './support/cli-process.ts';

const FAILING = `
import { test } from 'node:test';
test('a claim that holds', () => {});
test('a claim that does not', () => { throw new Error('what was found'); });
test('a claim of parts', async (t) => {
  await t.test('the part that does not hold', () => { throw new Error('what the part found'); });
});
test('a claim that is left out', { skip: 'for want of something' }, () => {});
`;

test('what the tests cost the processor is counted with the processes that they start', {
  skip: childrenSeconds() === null && 'this system does not tell',
}, () => {
  const busy = 'while (process.cpuUsage().user < 500_000);';
  const parent = `require('node:child_process').spawnSync(process.execPath, ['-e', ${JSON.stringify(busy)}])`;
  const before = childrenSeconds() ?? 0;
  spawnSync(process.execPath, ['-e', parent]);
  assert.ok((childrenSeconds() ?? 0) - before >= 0.45);
});

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
  const [file] = found.files;
  assert.deepEqual([file?.tests, file?.skipped], [5, 1], 'each file with its tests');
  assert.deepEqual([found.counts.passed, found.counts.skipped], [1, 1], 'and the closing lines of the runner');
  const words = lastWords({ sqlite: found });
  assert.match(words, /^slowest files:\n +\d+\.\d s {2}\S*a\.test\.mjs \(sqlite\)\n/);
  assert.match(words, /\n3 failed:\n/);
  assert.match(
    words,
    /\n✖ a claim that does not\n {2}\S*a\.test\.mjs:4 \(sqlite\)\n {4}Error: what was found\n {8}at /,
  );
  assert.doesNotMatch(words, /node:internal/);
  assert.match(words, /test failed\n$/);
});

/** A pass in which every file had so many tests and one server, but for what is said otherwise. */
function pass(
  name: PassName,
  tests: Readonly<Record<string, number>>,
  changes: { skipped?: number; store?: string } = {},
): Pass {
  const { skipped = 0, store = name } = changes;
  const files = Object.keys(tests);
  const all = Object.values(tests).reduce((sum, count) => sum + count, 0);
  return {
    name,
    files,
    report: {
      failed: [],
      files: files.map((file, place) => ({
        file,
        seconds: 1,
        tests: tests[file] ?? 0,
        skipped: place === 0 ? skipped : 0,
      })),
      counts: { tests: all, passed: all - skipped, cancelled: 0, skipped, todo: 0 },
    },
    seen: files.map((file) => ({ file, store })),
  };
}

test('equal counts on both stores are said with the store that /readyz named, and a difference with its file', () => {
  const files = { 'test/a.test.ts': 3, 'test/b.test.ts': 4 };
  const [sqlite, postgres] = [pass('sqlite', files), pass('postgres', files)];
  assert.deepEqual(differences(sqlite, postgres), []);
  assert.deepEqual(misplacements([sqlite, postgres]), []);
  const line = 'postgres   2 files, tests 7, pass 7, fail 0, skipped 0; /readyz said: postgres (2 servers)\n';
  assert.equal(passLine(postgres), line);
  assert.match(
    timesLines(sqlite, postgres),
    /\n +1\.0 +1\.0 {2}test\/a\.test\.ts\n(?:.*\n)* +2\.0 +2\.0 {2}together\n$/,
  );
  assert.deepEqual(differences(sqlite, pass('postgres', { ...files, 'test/b.test.ts': 2 })), [
    'test/b.test.ts: 4 tests over sqlite, 2 over postgres.',
  ]);
  assert.deepEqual(differences(sqlite, pass('postgres', files, { skipped: 1 })), [
    'test/a.test.ts: 3 tests over sqlite, 2 over postgres.',
  ]);
  assert.deepEqual(leftOut([sqlite, postgres]), []);
  assert.deepEqual(leftOut([sqlite, pass('postgres', files, { skipped: 1 })]), [
    'test/a.test.ts (postgres): 1 tests were skipped, and CI is set.',
  ]);
  assert.deepEqual(differences(sqlite, pass('postgres', { 'test/a.test.ts': 3 })), [
    'test/b.test.ts: 4 tests over sqlite, 0 over postgres.',
  ]);
});

test('a file whose servers have another store than its pass, or that has none, is named', () => {
  const files = { 'test/a.test.ts': 3 };
  assert.match(
    misplacements([pass('postgres', files, { store: 'sqlite' })])[0] ?? '',
    /^test\/a\S+ over postgres .* on sqlite/,
  );
  assert.match(misplacements([{ ...pass('sqlite', files), seen: [] }])[0] ?? '', /^test\/a\S+ started no server/);
  const unit = { 'packages/a.test.ts': 1, 'test/start.test.ts': 2 };
  assert.deepEqual(
    misplacements([pass('once', unit, { store: 'sqlite' })]).map((problem) => problem.split(':')[0]),
    ['packages/a.test.ts started a server'],
  );
});

test('every test file runs on both stores or is named with a reason, and no name is left over', () => {
  const [all, once] = [allTestFiles(), filesOf('once')];
  assert.deepEqual(filesOf('sqlite'), filesOf('postgres'));
  assert.deepEqual([...once, ...filesOf('sqlite')].sort(), all.sort());
  for (const name of [...STARTS_NO_SERVER, ...Object.keys(ONE_STORE)]) assert.ok(existsSync(join(root, name)), name);
  for (const [name, reason] of Object.entries(ONE_STORE)) assert.ok(reason.split(' ').length > 3, name);
  assert.deepEqual(filesOf('once', ['test/new.test.ts']), [], 'a new file of tests is on both stores from the start');
});
