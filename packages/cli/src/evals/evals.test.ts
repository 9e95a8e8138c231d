import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cites } from '../../../../requirements/cite.ts';
import { type CaseResult, type RepeatOutcome, toResult } from './case-result.ts';
import { diffTexts } from './difference.ts';
import type { EvalCase, EvalRecord, EvalSuite, Expect, RecordedCall, RecordedRun } from './eval-case.ts';
import { checkExpectations } from './expectations.ts';
import { htmlReport } from './html-report.ts';

/* What is pure in evals. The proof `evals` runs every kind of expectation against servers. */

const USAGE = {
  ...{ request_count: 1, input_tokens: 8, cached_tokens: 0, output_tokens: 2, reasoning_tokens: 0, total_tokens: 10 },
};

const call = (tool: string, given: object = {}): RecordedCall => ({
  ...{ agent: 'Triage', callerAgent: null, tool, arguments: JSON.stringify(given), output: 'ok', failed: false },
});

const RECORD: EvalRecord = {
  ...{ status: 'completed', error: null, text: 'It costs 99 euros.', output: { n: 1 }, asks: ['refund'] },
  calls: [call('find', { id: 'A1', page: 1 }), call('look'), call('refund')],
  agents: ['Triage', 'Billing'],
  steps: [
    { kind: 'model', agent: 'Triage', name: 'a/b', status: 'completed', arguments: null, output: null, tokens: 10 },
    {
      kind: 'tool',
      agent: 'Triage',
      name: 'find',
      status: 'completed',
      arguments: '{"id":"A1"}',
      output: 'ok',
      tokens: null,
    },
  ],
  ...{ usage: USAGE, cost: null, seconds: 1.5 },
};

const REFERENCE: RecordedRun = {
  ...{ runId: 'run_1', agent: 'Triage', message: 'How much?', history: [], text: 'It costs 98 euros.' },
  calls: [call('find', { page: 1, id: 'A1' }), call('look'), call('refund')],
};

const failures = (expect: Expect, recorded: RecordedRun | null = null) =>
  checkExpectations({ expect: { asks: ['refund'], ...expect }, recorded }, RECORD, () => 'it is wrong').map(
    ({ expectation }) => expectation,
  );

test('every expectation is checked against the record', (t) => {
  cites(t, 'contract-25-expectations', 'contract-25-numbers');
  assert.deepEqual(failures({}), []);
  assert.deepEqual(failures({ text: { contains: [99, 'euros'], matches: '\\d+', maxCharacters: 18 } }), []);
  assert.deepEqual(failures({ output: { equals: { n: 1 } }, maxSteps: 1, maxTokens: 10, notCalls: ['close'] }), []);
  const all: Expect = {
    status: 'failed',
    asks: [],
    calls: ['none'],
    notCalls: ['look'],
    agents: ['Triage'],
    text: { contains: [98], notContains: [99], matches: '^\\d+$', maxCharacters: 17 },
    output: { equals: { n: 2 }, schema: {} },
    maxSteps: 0,
    maxTokens: 9,
  };
  assert.deepEqual(failures(all), [
    ...['status', 'asks', 'calls', 'notCalls', 'agents'],
    ...['text.contains', 'text.notContains', 'text.matches', 'text.maxCharacters'],
    ...['output.equals', 'output.schema', 'maxSteps', 'maxTokens'],
  ]);
});

test('calls keep their order, and recorded calls are compared as JSON values', (t) => {
  cites(t, 'contract-25-calls');
  assert.deepEqual(failures({ calls: ['find', 'refund'] }), [], 'others may be between them');
  assert.deepEqual(failures({ calls: ['refund', 'find'] }), ['calls']);
  assert.deepEqual(failures({ calls: ['find', 'find'] }), ['calls']);
  assert.deepEqual(failures({ calls: [{ tool: 'find', arguments: { id: 'A1' } }] }), [], 'other members');
  assert.deepEqual(failures({ calls: [{ tool: 'find', arguments: { id: 'A2' } }] }), ['calls']);
  assert.deepEqual(failures({ calls: 'same' }, REFERENCE), []);
  assert.deepEqual(failures({ calls: 'same' }, { ...REFERENCE, calls: [] }), ['calls']);
  assert.deepEqual(failures({ asks: ['refund', 'refund'] }), ['asks']);
  assert.deepEqual(failures({ agents: ['Billing', 'Triage'] }), ['agents']);
});

const SUITE: EvalSuite = { agency: 'shop', file: 'evals/a.yaml', name: 'A', cases: [] };
const CASE: EvalCase = {
  ...{ name: '<b>odd</b>', repeat: 2, atLeast: 1, recorded: REFERENCE },
  expect: { judge: { criteria: 'Names the price.' } },
};
const outcome = (more: Partial<RepeatOutcome> = {}): RepeatOutcome => ({
  ...{ record: RECORD, failures: [], verdict: { score: 0.9, reason: 'It does.' }, error: null },
  ...{ judgeUsage: USAGE, judgeCost: null, ...more },
});
const ERROR = { expectation: 'judge', message: 'It failed.' };

test('a case passes with enough repeats, and is an error if a judge could still decide it', (t) => {
  cites(t, 'contract-25-repeats', 'contract-25-judge-failure');
  const status = (atLeast: number, ...outcomes: readonly RepeatOutcome[]): CaseResult['status'] =>
    toResult(SUITE, { ...CASE, atLeast }, null, outcomes).status;
  const failed = outcome({ failures: [{ expectation: 'status', message: 'No.' }] });
  const odd = outcome({ error: ERROR });
  assert.equal(status(1, outcome(), failed), 'passed');
  assert.equal(status(2, outcome(), failed), 'failed');
  assert.equal(status(1, failed, odd), 'error');
  assert.equal(status(2, failed, odd), 'failed');
  assert.equal(status(1, outcome(), odd), 'passed');
});

test('the page shows steps, differences and reasons, and loads nothing', (t) => {
  cites(t, 'contract-25-html');
  const results = [toResult(SUITE, CASE, null, [outcome(), outcome({ verdict: null, error: ERROR })])];
  const page = htmlReport(results, { models: [null], passed: true, isInterrupted: false });
  for (const part of [
    '<span>It costs </span><del>98</del><ins>99</ins><span> euros.</span>',
    'Score 0.9, at least 0.5 is needed. Reason: It does.',
    '&lt;b&gt;odd&lt;/b&gt;',
    '<td>find</td>',
    'as recorded',
  ]) {
    assert.ok(page.includes(part), part);
  }
  assert.doesNotMatch(page, /https?:|<script|src=|@import|url\(/);
  assert.match(page, /default-src 'none'/);
});

test('texts that are very long are compared as a whole', () => {
  const long = 'word '.repeat(3000);
  assert.deepEqual(
    diffTexts(long, `${long}end`).map(({ kind }) => kind),
    ['removed', 'added'],
  );
});
