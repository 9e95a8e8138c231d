import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { temporaryFolder } from '@runwire/test-kit';
import { builtSentence } from '../scripts/build/built-sentence.ts';
import { checkBudgets, countLoads } from '../scripts/console/budgets.ts';
import { differentFiles } from '../scripts/console/compare-folders.ts';
import { type Part, runParts } from '../scripts/parts.ts';
import { childrenSeconds } from '../scripts/processor-time.ts';
import { Progress } from '../scripts/progress.ts';
import { fullFiles, GROUP_BYTES, gateFiles, OWN_PROCESS, toGroups } from '../scripts/test-files.ts';
import { costliestFiles, failureLines, type TestReport } from '../scripts/test-report.ts';
import { root } from './support/cli-process.ts';
import { isRootOnDebian, missingServices, SERVICES } from './support/services.ts';

const FAILING = `
import { test } from 'node:test';
test('a claim that holds', () => {});
test('a claim that does not', () => { throw new Error('the reason'); });
test('a claim of parts', async (t) => {
  await t.test('the part that fails', () => { throw new Error('the reason of the part'); });
});
`;
const SKIPPING = `
import { test } from 'node:test';
test('a claim that is left out', { skip: 'something is missing' }, () => {});
`;

function getFolder(t: TestContext): string {
  const folder = temporaryFolder();
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test('CPU seconds include the processes that a child starts', {
  skip: childrenSeconds() === null && 'this system does not count them',
}, () => {
  const busy = 'while (process.cpuUsage().user < 200_000);';
  const parent = `require('node:child_process').spawnSync(process.execPath, ['-e', ${JSON.stringify(busy)}])`;
  const before = childrenSeconds() ?? 0;
  spawnSync(process.execPath, ['-e', parent]);
  assert.ok((childrenSeconds() ?? 0) - before >= 0.18);
});

test('the report names each failed test once, with its reason and place', (t) => {
  const folder = getFolder(t);
  const names = ['a.test.mjs', 'b.test.mjs', 'c.test.mjs', 'run.mjs'];
  const [failing, broken, skipping, program] = names.map((name) => join(folder, name));
  assert.ok(failing && broken && skipping && program);
  writeFileSync(failing, FAILING);
  writeFileSync(skipping, SKIPPING);
  writeFileSync(broken, 'process.exit(3);');
  writeFileSync(
    program,
    `import { runTests } from ${JSON.stringify(join(root, 'scripts/run-tests.ts'))};
    process.stderr.write(JSON.stringify(await runTests(${JSON.stringify([[failing, skipping], [broken]])}, process.env)));`,
  );
  const env = { ...process.env };
  // Node's test runner sets this variable. With it, a runner in the child process would behave as a test file.
  delete env.NODE_TEST_CONTEXT;
  const { stdout, stderr } = spawnSync(process.execPath, ['-C', 'runwire', program], {
    env,
    cwd: folder,
    encoding: 'utf8',
  });
  const report: TestReport = JSON.parse(stderr);
  assert.deepEqual(
    report.failed.map(({ name, error }) => [name, error.split('\n')[0]]),
    [
      ['a claim that does not', 'Error: the reason'],
      ['the part that fails', 'Error: the reason of the part'],
      ['test process', 'The process ended with 3 before it reported its tests. Its last lines:'],
    ],
  );
  assert.deepEqual([report.passed, report.skipped], [false, ['c.test.mjs']]);
  const closing = stdout.match(/^ℹ (?:tests|pass|fail|duration_ms) /gm);
  assert.deepEqual(closing, ['ℹ tests ', 'ℹ pass ', 'ℹ fail ', 'ℹ duration_ms '], 'once, for all processes');
  assert.match(stdout, /ℹ pass 1\n/, "the closing lines of Node's test runner");
  assert.match(costliestFiles(report), /^CPU seconds .*:\n( +\d+\.\d s {2}(a\.test\.mjs|loading modules)\n){2}$/);
  const lines = failureLines(report);
  assert.match(lines, /^\n3 failed:\n/);
  assert.match(lines, /\n✖ a claim that does not\n {2}a\.test\.mjs:4\n {4}Error: the reason\n {8}at /);
  assert.doesNotMatch(lines, /node:internal/);
  assert.match(lines, /\n✖ test process\n {2}\S*b\.test\.mjs\n/);
});

test('a check that was interrupted continues, unless the sources changed', (t) => {
  const file = join(getFolder(t), 'notes', 'passed.txt');
  new Progress(file, 'sources 1').add('gate');
  const continued = new Progress(file, 'sources 1');
  assert.deepEqual([continued.has('gate'), continued.has('proofs')], [true, false]);
  assert.equal(new Progress(file, 'sources 2').has('gate'), false);
  new Progress(file, 'sources 2').add('gate');
  new Progress(file, 'sources 2').clear();
  assert.equal(new Progress(file, 'sources 2').has('gate'), false);
});

test('parts that passed do not run again, and each failed one is described', async (t) => {
  const file = join(getFolder(t), 'passed.txt');
  const ran: string[] = [];
  const part = (label: string, problem: string | null, output = ''): Part => ({
    name: 'x',
    label,
    run: async () => {
      ran.push(label);
      return { problem, summary: '1 test', output };
    },
  });
  const failing = part('b', 'exit code 1', 'first lines\n✖ failing tests:\nthe reason\n');
  const parts = [part('a', null), failing, part('c', 'no PROVED', 'the last line\n')];
  const print = t.mock.method(process.stdout, 'write', () => true);
  const first = await runParts(parts, new Progress(file, 'sources 1'), 2);
  const second = await runParts(parts.toReversed(), new Progress(file, 'sources 1'), 1);
  const printed = print.mock.calls.map(({ arguments: [text] }) => String(text));
  print.mock.restore();
  assert.deepEqual(ran, ['a', 'b', 'c', 'c', 'b']);
  assert.deepEqual(first, ['\n✖ b: exit code 1\n  | the reason\n', '\n✖ c: no PROVED\n  | the last line\n']);
  assert.deepEqual(second, first.toReversed());
  assert.ok(printed.includes('1 of 3 parts passed before\n'));
  assert.match(printed.join(''), /^FAILED b, 0 s(, 0 CPU s)?: 1 test$/m);
});

test('a part that measures time runs alone', async (t) => {
  let running = 0;
  const beside: Record<string, number> = {};
  const part = (label: string, alone = false): Part => ({
    name: 'x',
    label,
    alone,
    run: async () => {
      running += 1;
      await setImmediate();
      beside[label] = running - 1;
      await setImmediate();
      running -= 1;
      return { problem: null, summary: '', output: '' };
    },
  });
  const print = t.mock.method(process.stdout, 'write', () => true);
  const parts = [part('a'), part('timed', true), part('b'), part('timed too', true)];
  await runParts(parts, new Progress(join(getFolder(t), 'passed.txt'), 'sources'), 2);
  print.mock.restore();
  assert.deepEqual(beside, { a: 1, b: 1, timed: 0, 'timed too': 0 });
});

test('the gate prints its steps with an estimate, and a build prints what it made', (t) => {
  // In an empty folder the first step fails.
  const { stdout, stderr } = spawnSync(process.execPath, ['-C', 'runwire', join(root, 'scripts/check.ts')], {
    cwd: getFolder(t),
    env: { PATH: dirname(process.execPath) },
    encoding: 'utf8',
  });
  const steps =
    /^check: lock file \(3 s\), types .*, requirements \(1 s\): about \d+ minutes on 4 cores, .*\ncheck: lock file …\n/;
  assert.match(stdout, steps);
  assert.match(stderr, /^check: lock file failed: /m);
  const sentence = builtSentence([{ folder: 'cli' }, { folder: 'server' }], 12_345);
  assert.match(sentence, /^Built in 12\.3 s: packages\/cli\/dist, packages\/server\/dist\n`npm start` uses them/);
});

test('packages are named before they are installed', {
  skip: !isRootOnDebian() && 'only root on Debian',
}, async (t) => {
  const order: string[] = [];
  const isThere = t.mock.method(SERVICES.strace, 'isThere', () => order.length === 2);
  const printed = t.mock.method(process.stderr, 'write', (text: string) => order.push(text) > 0);
  const missing = await missingServices(['strace'], async (packages) => void order.push(`installed ${packages}`));
  printed.mock.restore();
  isThere.mock.restore();
  const notice = 'Tests need Debian packages, which are installed now with apt-get: strace\n';
  assert.deepEqual([order, missing], [[notice, 'installed strace'], []]);
});

test('every test file is in the gate or, by its name, in check:full', () => {
  assert.ok(gateFiles().includes('test/gate.test.ts'));
  assert.ok(gateFiles().every((file) => !file.includes('.full.')));
  const both = fullFiles().filter((file) => !file.endsWith('.full.test.ts'));
  assert.ok(both.includes('test/settings.test.ts'), 'a part of it runs only at full scale');
  assert.ok(both.length < gateFiles().length / 2);
});

test('test files share processes, except those with hooks around each test', (t) => {
  const folder = getFolder(t);
  const text = '/'.repeat(GROUP_BYTES / 2);
  const sources = {
    'a.test.ts': `before(() => {});${text}`,
    'b.test.ts': 'beforeEach(() => {});',
    'c.test.ts': `/* ${OWN_PROCESS} a reason. */`,
    'd.test.ts': '',
    'e.test.ts': `  beforeEach(() => {});${text}`,
    'f.test.ts': text,
    'g.test.ts': '/',
  };
  for (const [name, source] of Object.entries(sources)) writeFileSync(join(folder, name), source);
  const groups = toGroups(Object.keys(sources).map((name) => join(folder, name)));
  const names = groups.map((files) => files.map((file) => basename(file, '.test.ts')).join(''));
  assert.deepEqual(names, ['ade', 'fg', 'b', 'c']);
});

test('the first load and each page of the console have a budget', (t) => {
  const folder = getFolder(t);
  const manifest = {
    'index.html': { file: 'index.js', css: ['index.css'], imports: ['_shared.js'], dynamicImports: ['a.tsx', 'b.tsx'] },
    '_shared.js': { file: 'shared.js', dynamicImports: ['a.tsx'] },
    'a.tsx': { file: 'a.js', imports: ['index.html', '_shared.js', '_list.js'], css: ['index.css', 'a.css'] },
    'b.tsx': { file: 'b.js', imports: ['_list.js'], dynamicImports: ['plot.tsx'] },
    '_list.js': { file: 'list.js' },
    'plot.tsx': { file: 'plot.js' },
  };
  const loads = countLoads(manifest);
  assert.deepEqual([...loads.first], ['index.html', 'index.js', 'index.css', 'shared.js']);
  assert.deepEqual(
    [...loads.pages].map(([key, files]) => [key, ...files]),
    [
      ['a.tsx', 'a.js', 'a.css', 'list.js'],
      ['b.tsx', 'b.js', 'list.js', 'plot.js'],
    ],
  );
  const sizes = { 'index.js': 150, 'shared.js': 40, 'a.js': 30, 'list.js': 20, 'plot.js': 41 };
  const write = (name: string, kb: number) => writeFileSync(join(folder, name), randomBytes(kb * 1000));
  for (const name of ['index.html', 'index.css', 'a.css', 'b.js']) write(name, 0);
  for (const [name, kb] of Object.entries(sizes)) write(name, kb);
  assert.deepEqual(
    checkBudgets(folder, loads).problems.map((problem) => problem.split(',')[0]),
    ['b.tsx has 61.1 kB gzipped'],
  );
  write('shared.js', 51);
  assert.match(
    checkBudgets(folder, loads).problems[0] ?? '',
    /^the first load has 201\.\d kB gzipped, more than 200\.0 kB/,
  );
});

test('a committed build that differs from a new one is seen', (t) => {
  const [one, other] = [getFolder(t), getFolder(t)];
  for (const folder of [one, other]) {
    mkdirSync(join(folder, 'assets'));
    for (const name of ['index.html', 'assets/a.js', 'assets/b.js']) writeFileSync(join(folder, name), 'text');
  }
  assert.deepEqual(differentFiles(one, other), []);
  writeFileSync(join(one, 'assets/a.js'), 'text\n');
  renameSync(join(other, 'assets/b.js'), join(other, 'assets/c.js'));
  assert.deepEqual(differentFiles(one, other), ['assets/a.js', 'assets/b.js', 'assets/c.js']);
});
