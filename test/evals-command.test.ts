import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startTestServer, TEST_API_KEY } from '@runwire/test-kit';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { cites } from '../requirements/cite.ts';
import { EvalStage } from './evals/eval-stage.ts';
import { getFolder, startRunwire } from './support/cli-process.ts';
import { listSamples } from './support/doc-samples.ts';

const file = (cases: readonly object[], more: object = {}) => JSON.stringify({ name: 'Refunds', ...more, cases });

const runEvals = (args: readonly string[], env: Readonly<Record<string, string>>) =>
  startRunwire(['evals', 'run', ...args], { env }).result;

test('runwire evals run checks cases on a server of its own, and tells the result by its exit code', async (t) => {
  cites(
    t,
    ...(['contract-25-exit', 'contract-25-json', 'contract-25-junit', 'contract-25-repeats'] as const),
    ...(['contract-25-judge', 'contract-25-judge-failure', 'contract-25-numbers'] as const),
  );
  const good = { name: 'good text', message: 'say It is 99.', expect: { text: { contains: [99] } } };
  const bad = { name: 'bad', message: 'say Hi.', expect: { text: { contains: ['99'] } } };
  const judged = { name: 'good verdict', message: 'say Hi.', expect: { judge: { criteria: 'score 0.5' } } };
  await using stage = await EvalStage.start({
    'shop/evals/a.yaml': file([good, judged]),
    'shop/evals/b.yaml': file([
      { ...good, name: 'two of three', message: 'vary 99|0|99', repeat: 3, atLeast: 2 },
      bad,
      { ...judged, name: 'unjudged', expect: { judge: { criteria: 'break' } } },
    ]),
  });
  const folder = getFolder(t);
  const passes = await runEvals(['shop', '--case', 'GOOD', '--json'], stage.env);
  assert.equal(passes.code, 0, passes.stderr);
  const { passed, cases } = JSON.parse(passes.stdout);
  assert.deepEqual([passed, cases.length], [true, 2]);
  assert.deepEqual(Object.keys(cases[0]), [
    ...['file', 'name', 'model', 'repeats', 'passed', 'status', 'failures'],
    ...['usage', 'judgeUsage', 'cost', 'medianSeconds'],
  ]);
  assert.equal(cases[1].judgeUsage.total_tokens, 50);

  const xml = join(folder, 'evals.xml');
  const fails = await runEvals(['--junit', xml, '--parallel', '1'], stage.env);
  assert.equal(fails.code, 1, fails.stderr);
  assert.match(fails.stdout, /^shop\/evals\/b\.yaml +two of three +2\/3 passed +150 /m);
  assert.match(fails.stderr, /shop\/evals\/b\.yaml: bad\n {2}text\.contains: The text does not contain “99”\.\n/);
  assert.match(fails.stderr, /unjudged\n {2}judge: The judge failed: model_error/);
  const junit = readFileSync(xml, 'utf8');
  assert.match(junit, /<testsuites tests="5" failures="1" errors="1" /);
  assert.match(junit, /<testsuite name="shop\/evals\/a\.yaml" tests="2" failures="0" errors="0" /);
});

test('the evals of the demo agency run without a folder', async () => {
  const { code, stdout } = await runEvals(['--json'], { RUNWIRE_SANDBOX: 'off' });
  assert.deepEqual([code, JSON.parse(stdout).passed], [0, true]);
});

test('faults in eval files are reported with file, line and column, and by agencies check too', async (t) => {
  cites(t, 'contract-25-faults', 'contract-25-exit');
  await using stage = await EvalStage.start({
    // The case of the guide has no fault.
    'shop/evals/good.yaml': listSamples('docs/evals.md', 'yaml')[0] ?? '',
    'shop/evals/wrong.yaml': 'name: Wrong\ncases:\n  - name: a\n    input: Hi\n    expect: {}\n',
  });
  const sentence = 'shop/evals/wrong.yaml:4:5: `input` is not a field of a case; write `message`.\n';
  const ran = await runEvals([], stage.env);
  assert.deepEqual([ran.code, ran.stdout, ran.stderr], [2, '', sentence]);
  const checked = await startRunwire(['agencies', 'check', stage.folder.path], { env: stage.env }).result;
  assert.deepEqual([checked.code, checked.stdout], [1, sentence]);
});

test('the schema of eval files is served, and accepts the case of the guide', async (t) => {
  cites(t, 'contract-25-files');
  await using server = await startTestServer();
  const { status, body } = await server.api.get('/evals.schema.json');
  assert.equal(status, 200);
  const committed = readFileSync(new URL('../docs/evals.schema.json', import.meta.url), 'utf8');
  assert.deepEqual(body, JSON.parse(committed));
  const validate = new Ajv({ strict: false }).compile(body);
  const guide: unknown = parse(listSamples('docs/evals.md', 'yaml')[0] ?? '');
  assert.ok(validate(guide), JSON.stringify(validate.errors));
  assert.equal(validate({ name: 'A', cases: [{ name: 'a', prompt: 'Hi', expect: {} }] }), false);
});

test('a recorded run becomes a case that passes, on another server too', async (t) => {
  cites(t, 'contract-25-record', 'contract-25-recorded-run', 'contract-25-version');
  await using stage = await EvalStage.start();
  await using server = await startTestServer({ env: { ...stage.env, RUNWIRE_AGENCIES_WATCH: 'true' } });
  const apiIntegrationId = 'tickets';
  await server.api.post('/v2/integrations', { apiIntegrationId, agency: 'shop' });
  const version = async () =>
    (await server.api.get('/v2/agencies')).body.items.find(({ agency }: { agency: string }) => agency === 'shop');
  const before = await version();
  const complete = async (message: string) => {
    const reader = await server.api.complete({ apiIntegrationId, chatId: 'c', message, agent: 'Billing' });
    await reader.whole();
    return String(reader.headers['x-run-id']);
  };
  await complete('say Welcome.');
  const runId = await complete('call refund {"cents":1}');
  const env = { ...stage.env, RUNWIRE_API_KEY: TEST_API_KEY, RUNWIRE_URL: server.url };
  const recorded = await startRunwire(['evals', 'record', runId, '--integration', apiIntegrationId], { env }).result;
  assert.equal(recorded.code, 0, recorded.stderr);
  assert.match(recorded.stderr, /^The files contain what people wrote/);
  const path = join(stage.folder.path, 'shop/evals');
  const line = JSON.parse(readFileSync(join(path, 'recorded.jsonl'), 'utf8'));
  assert.deepEqual(line.history, [
    { role: 'user', content: 'say Welcome.' },
    { role: 'assistant', content: 'Welcome.' },
  ]);
  assert.deepEqual(
    [line.message, line.calls[0].tool, line.calls[0].output],
    ['call refund {"cents":1}', 'refund', null],
  );
  assert.ok(existsSync(join(path, 'recorded.yaml')));

  for (const args of [['shop'], ['shop', '--url', server.url, '--integration', apiIntegrationId]]) {
    const { code, stdout, stderr } = await runEvals([...args, '--json'], env);
    assert.equal(code, 0, `${stdout}${stderr}`);
    assert.deepEqual(JSON.parse(stdout).cases[0].name, `call refund {"cents":1} (${runId})`);
  }
  const after = await version();
  assert.deepEqual([after.version, after.loadedAt], [before.version, before.loadedAt]);
});
