import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import accepted from './accepted.json' with { type: 'json' };
import type { Citation } from './cite.ts';
import { readCitations, tally } from './tally.ts';

const citeModule = pathToFileURL(join(import.meta.dirname, 'cite.ts')).href;
const script = join(import.meta.dirname, '../scripts/requirements.ts');
const ids = Object.keys(accepted);

function makeFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'runwire-citations-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function runNode(args: readonly string[], citations: string | undefined) {
  const { NODE_TEST_CONTEXT: _, REQUIREMENTS_CITED: __, ...env } = process.env;
  return spawnSync(process.execPath, ['-C', 'runwire', ...args], {
    env: citations === undefined ? env : { ...env, REQUIREMENTS_CITED: citations },
    encoding: 'utf8',
  });
}

function runTests(t: TestContext, body: string, recorded = true) {
  const folder = makeFolder(t);
  const file = join(folder, 'sample.test.ts');
  writeFileSync(file, `import { test } from 'node:test';\nimport { cites } from '${citeModule}';\n${body}\n`);
  const citations = join(folder, 'citations');
  const child = runNode(['--test', '--test-reporter=tap', file], recorded ? citations : undefined);
  return { status: child.status, output: child.stdout + child.stderr, citations: readCitations(citations) };
}

function runScript(t: TestContext, cited: readonly string[]) {
  const folder = join(makeFolder(t), 'citations');
  mkdirSync(folder);
  const stores = ['sqlite', 'postgres'];
  const lines = cited.flatMap((id) =>
    stores.map((store) => JSON.stringify({ id, test: `${store} > a test`, file: 'a.test.ts' } satisfies Citation)),
  );
  if (lines.length > 0) writeFileSync(join(folder, '1.jsonl'), `${lines.join('\n')}\n`);
  return runNode([script], folder);
}

test('records the citations of a passing test and none of a failing one', (t) => {
  const { status, citations } = runTests(
    t,
    `test('passes', (t) => { cites(t, 'spec-2.1-message', 'spec-7-409'); });
     test('fails', (t) => { cites(t, 'spec-7-429'); throw new Error('planted'); });`,
  );
  assert.equal(status, 1);
  assert.deepEqual(
    citations.map(({ id, test }) => [id, test]),
    [
      ['spec-2.1-message', 'passes'],
      ['spec-7-409', 'passes'],
    ],
  );
  assert.match(citations[0]?.file ?? '', /sample\.test\.ts$/);
});

test('records nothing if the test fails, times out or is skipped', (t) => {
  const { citations } = runTests(
    t,
    `test('subtest', async (t) => { cites(t, 'spec-7-400'); await t.test('inner', () => { throw new Error('planted'); }); });
     test('hook', (t) => { cites(t, 'spec-7-401'); t.after(() => { throw new Error('planted'); }); });
     test('clock', { timeout: 20 }, async (t) => { cites(t, 'spec-7-403'); await new Promise((r) => setTimeout(r, 200)); });
     test('skipped', (t) => { cites(t, 'spec-7-404'); t.skip('planted'); });
     test('to do', (t) => { cites(t, 'spec-7-409'); t.todo('planted'); });
     test('inner passes', async (t) => { await t.test('inner', (s) => { cites(s, 'spec-7-429'); }); });`,
  );
  assert.deepEqual(
    citations.map(({ id, test }) => [id, test]),
    [['spec-7-429', 'inner passes > inner']],
  );
});

test('fails a test that cites an unknown id', (t) => {
  const unknown = runTests(t, `test('unknown', (t) => { cites(t, 'spec-2.1-message', 'spec-0-nothing'); });`);
  assert.equal(unknown.status, 1);
  assert.match(unknown.output, /No requirement has the id "spec-0-nothing"/);
  assert.deepEqual(unknown.citations, []);
});

test('records nothing without a folder to record in', (t) => {
  const { status, citations } = runTests(t, `test('passes', (t) => { cites(t, 'spec-2.1-message'); });`, false);
  assert.equal(status, 0);
  assert.deepEqual(citations, []);
});

test('the count is green if every id is cited', (t) => {
  const { status, stdout, stderr } = runScript(t, [...ids, ...ids]);
  assert.equal(stderr, '');
  assert.equal(stdout, `ids ${ids.length} cited ${ids.length}\n`);
  assert.equal(status, 0);
});

test('the count fails on an uncited id and quotes it', (t) => {
  const { status, stdout, stderr } = runScript(
    t,
    ids.filter((id) => id !== 'contract-2-one-owner'),
  );
  assert.equal(status, 1);
  assert.equal(stdout, `ids ${ids.length} cited ${ids.length - 1}\n`);
  assert.match(
    stderr,
    /^docs\/contract\/\S+\.md:\d+: no passing test cites contract-2-one-owner: An integration belongs to one owner\.\n$/,
  );
});

test('the count fails on an unknown id', (t) => {
  const { status, stderr } = runScript(t, [...ids, 'spec-0-nothing']);
  assert.equal(status, 1);
  assert.match(stderr, /^a\.test\.ts: "sqlite > a test" cites spec-0-nothing, which is on no page\n/);
});

test('the count fails with one sentence when nothing was recorded', (t) => {
  const { status, stderr } = runScript(t, []);
  assert.equal(status, 1);
  assert.equal(stderr, 'No citations were recorded: run npm test first.\n');
});

test('the count fails if stored state is shown on one store only', () => {
  const requirement = { id: 'contract-6-usage-record', text: 'A usage record.', page: 'a.md', line: 3 };
  const cited = (test: string) => ({ id: requirement.id, test, file: 'a.test.ts' });
  assert.deepEqual(tally([requirement], [cited('sqlite > a test'), cited('postgres > a test')]).problems, []);
  assert.deepEqual(tally([requirement], [cited('sqlite > a test'), cited('a test')]).problems, [
    'a.md:3: not shown on postgres: contract-6-usage-record: A usage record.',
  ]);
  const other = { ...requirement, id: 'contract-1-umask' };
  assert.deepEqual(tally([other], [{ ...cited('a test'), id: other.id }]).problems, []);
});
