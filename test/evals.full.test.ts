import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { startTestServer, TEST_API_KEY } from '@runwire/test-kit';
import { count, plantedFault } from '@runwire/test-kit/scale.ts';
import { expectEqual } from '@runwire/test-kit/shortfall.ts';
import { type Browser, chromium } from 'playwright-core';
import { cites } from '../requirements/cite.ts';
import { axeFindings } from './console/axe-check.ts';
import { CASES, EXPECTED, type ExpectedCase, RECORDED_FILE } from './evals/eval-cases.ts';
import { EvalStage } from './evals/eval-stage.ts';
import { junitProblems } from './evals/junit-schema.ts';
import { WRONG_FILES } from './evals/wrong-files.ts';
import { getFolder, startRunwire } from './support/cli-process.ts';
import { CHROMIUM, missingServices } from './support/services.ts';

const FAULTS = join(import.meta.dirname, 'evals/eval-faults.ts');
const ALL_CASES = JSON.stringify({ name: 'All kinds', cases: CASES });

type Env = Readonly<Record<string, string>>;

/** Runs the command. A planted fault is in the code of the command itself. */
function evals(args: readonly string[], env: Env) {
  const fault = plantedFault();
  const nodeArgs = fault === null ? [] : ['--import', pathToFileURL(FAULTS).href];
  return startRunwire(['evals', 'run', ...args], {
    env: { ...env, ...(fault === null ? {} : { TEST_FAULT: fault }) },
    nodeArgs: [...nodeArgs],
  });
}

interface ReportedCase {
  readonly name: string;
  readonly status: ExpectedCase['status'];
  readonly repeats: number;
  readonly passed: number;
  readonly failures: readonly { readonly expectation: string }[];
  readonly judgeUsage: { readonly total_tokens: number };
  readonly cost: { readonly amount: number; readonly currency: string } | null;
}

/** What differs between two runs of the same evals: only the time. */
const withoutTimes = (text: string) =>
  text
    .replaceAll(/"medianSeconds":[\d.]+/g, '"medianSeconds":0')
    .replaceAll(/time="[\d.]+"/g, 'time="0"')
    .replaceAll(/[\d.]+ s<\/td>/g, '0 s</td>');

test('every expectation passes and fails as it must, and reports are equal on both servers', async (t) => {
  const [missing] = await missingServices(['chromium', 'xmllint']);
  if (missing !== undefined) return t.skip(missing);
  cites(t, 'contract-25-expectations', 'contract-25-calls', 'contract-25-html', 'contract-25-junit');
  await using stage = await EvalStage.start({
    'shop/evals/all.yaml': ALL_CASES,
    'shop/evals/recorded.jsonl': RECORDED_FILE,
  });
  const folder = getFolder(t);
  await using server = await startTestServer({ env: stage.env, fault: null });
  await server.api.post('/v2/integrations', { apiIntegrationId: 'tickets', agency: 'shop' });
  const reports: string[] = [];
  for (const [name, where] of [
    ['embedded', []],
    ['remote', ['--url', server.url, '--integration', 'tickets']],
  ] as const) {
    stage.reset();
    const [junit, html] = [join(folder, `${name}.xml`), join(folder, `${name}.html`)];
    const args = ['--json', '--junit', junit, '--html', html, ...where];
    const { code, stdout, stderr } = await evals(args, { ...stage.env, RUNWIRE_API_KEY: TEST_API_KEY }).result;
    if (stdout === '') throw new Error(stderr);
    checkCases(name, JSON.parse(stdout).cases);
    expectEqual(`${name}: exit code`, code, 1);
    reports.push(withoutTimes(stdout + readFileSync(junit, 'utf8') + readFileSync(html, 'utf8')));
  }
  expectEqual('reports of both servers', reports[1], reports[0]);
  expectEqual('problems of the JUnit report', await junitProblems(join(folder, 'embedded.xml')), []);
  await checkPage(join(folder, 'embedded.html'));
  count({ cases: CASES.length });
});

function checkCases(where: string, cases: readonly ReportedCase[]): void {
  expectEqual(`${where}: cases`, cases.length, EXPECTED.size);
  for (const { name, status, repeats, passed, failures, judgeUsage, cost } of cases) {
    const found: ExpectedCase = {
      ...{ status, failures: failures.map(({ expectation }) => expectation), repeats, passed },
      hasJudge: judgeUsage.total_tokens > 0,
    };
    const expected = EXPECTED.get(name);
    if (!isDeepStrictEqual(found, expected)) expectEqual(`${where}: ${name}`, found, expected);
    if (status !== 'error' && !name.startsWith('status')) expectEqual(`${name}: currency`, cost?.currency, 'EUR');
  }
}

async function openBrowser() {
  const browser: Browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  return { browser, [Symbol.asyncDispose]: () => browser.close() };
}

async function checkPage(path: string): Promise<void> {
  await using opened = await openBrowser();
  for (const [colorScheme, width] of [
    ['light', 1280],
    ['dark', 390],
  ] as const) {
    const page = await opened.browser.newPage({ colorScheme, viewport: { width, height: 900 } });
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    const problems: string[] = [];
    page.on('console', (message) => problems.push(message.text()));
    await page.goto(pathToFileURL(path).href);
    await page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })");
    const own = pathToFileURL(path).href;
    expectEqual(
      `${colorScheme}: requests of the page`,
      requests.filter((url) => url !== own && url !== 'data:,'),
      [],
    );
    expectEqual(`${colorScheme}: messages of the console`, problems, []);
    expectEqual(`${colorScheme}: axe`, await axeFindings(await page.context().newCDPSession(page)), []);
    const wide = await page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');
    expectEqual(`${colorScheme}: wider than the window`, wide, false);
    const text = await page.locator('main').innerText();
    for (const part of ['Score 0.69, at least 0.7 is needed', 'only recorded', 'find_invoice', 'struck out']) {
      expectEqual(`${colorScheme}: the page has “${part}”`, text.includes(part), true);
    }
    await page.close();
  }
}

test('each wrong file is reported with file, line and column', async (t) => {
  cites(t, 'contract-25-faults', 'contract-25-files');
  const wrong = Object.values(WRONG_FILES).map(({ text, faults }, index) => {
    const path = `shop/evals/${String(index).padStart(2, '0')}.yaml`;
    return { path, text, faults: faults.map((fault) => `${path}:${fault}`) };
  });
  const files = Object.fromEntries(wrong.map(({ path, text }) => [path, text]));
  await using stage = await EvalStage.start({ ...files, 'shop/evals/recorded.jsonl': RECORDED_FILE });
  const { code, stderr } = await evals([], stage.env).result;
  expectEqual('exit code', code, 2);
  const found = stderr.trim().split('\n');
  for (const { path, faults } of wrong) {
    const ofFile = found.filter((line) => line.startsWith(`${path}:`));
    expectEqual(path, ofFile, faults);
  }
  count({ wrong_files: wrong.length });
});

test('Ctrl-C cancels the runs, and the report has the cases that had ended', async (t) => {
  cites(t, 'contract-25-exit');
  const file = JSON.stringify({
    name: 'Slow',
    cases: [1, 2, 3, 4].map((n) => ({ name: `case ${n}`, message: `say ${n}`, expect: {} })),
  });
  await using stage = await EvalStage.start({ 'shop/evals/slow.yaml': file });
  const html = join(getFolder(t), 'partial.html');
  const { child, result } = evals(['--json', '--parallel', '1', '--html', html], stage.env);
  // The first two cases end; the third one waits for its model.
  await stage.waitForCalls(2);
  stage.hold();
  await stage.waitForCalls(3);
  child.kill('SIGINT');
  const { code, stdout } = await result;
  expectEqual('exit code', code, 130);
  const { passed, cases } = JSON.parse(stdout) as { passed: boolean; cases: readonly ReportedCase[] };
  expectEqual('a partial report has passed', passed, false);
  expectEqual(
    'cases in it',
    cases.map(({ name, status }) => [name, status]),
    [
      ['case 1', 'passed'],
      ['case 2', 'passed'],
    ],
  );
  expectEqual('the page tells it', readFileSync(html, 'utf8').includes('The evals were interrupted'), true);
  count({ interrupted: 1 });
});

test('each model has a column, and repeats are counted for each', async () => {
  const file = JSON.stringify({
    name: 'Models',
    cases: [
      { name: 'two of three', message: 'vary good|bad|good|good|good|good', expect: { text: { contains: ['good'] } } },
    ],
  });
  await using stage = await EvalStage.start({ 'shop/evals/models.yaml': file });
  const models = ['--model', 'openai/some-model', '--model', 'openai/other-model'];
  const { code, stdout } = await evals([...models, '--repeat', '3', '--parallel', '1'], stage.env).result;
  expectEqual('exit code', code, 1);
  const [head = '', row = ''] = stdout.split('\n');
  expectEqual('columns', /OPENAI\/SOME-MODEL +OPENAI\/OTHER-MODEL/.test(head), true);
  expectEqual('results', /2\/3 failed, 150 tokens, .* 3\/3 passed, 150 tokens/.test(row), true);
});
