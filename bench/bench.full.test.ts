import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { checkAnswer } from './answer-check.ts';
import { expectedText, type Order } from './model.ts';
import { type PhaseResult, pairedChange } from './phases.ts';

const isLinux = process.platform === 'linux';
const PHASES = ['slow', 'short', 'long', 'bursts', 'steps', 'single'];
const OUR_PHASES = [...PHASES, 'responses', 'team', 'team single', 'turns'];

interface BenchReport {
  readonly inProcess: boolean;
  readonly ownMsPerStep: number;
  readonly agenciesMs: number;
  readonly figures: readonly { readonly name: string; readonly values: Readonly<Record<string, number>> }[];
  readonly measured: Readonly<Record<string, readonly PhaseResult[]>>;
}

test('the quick benchmark measures all servers with complete answers', { skip: !isLinux }, async () => {
  const args = ['-C', 'runwire', 'bench/main.ts', '--quick', '--seconds', '0.2'];
  // The benchmark fails if one answer is incomplete.
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 1 << 24 });
  const report = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as BenchReport;
  assert.equal(report.inProcess, false);
  for (const { name, values } of report.figures) {
    for (const [contestant, value] of Object.entries(values)) assert.ok(value > 0, `${contestant}, ${name}: ${value}`);
  }
  assert.ok(Number.isFinite(report.ownMsPerStep) && report.agenciesMs > 0);
  assert.deepEqual(Object.keys(report.measured), ['floor', 'durable', 'ours']);
  for (const [contestant, results] of Object.entries(report.measured)) {
    assert.deepEqual(
      results.map(({ name }) => name),
      contestant === 'ours' ? OUR_PHASES : PHASES,
    );
    for (const { name, runs } of results) assert.ok(runs > 0, name);
  }
});

test('compares this version with itself', { skip: !isLinux }, async () => {
  const args = ['-C', 'runwire', 'bench/main.ts', '--against', join(import.meta.dirname, '..'), '--seconds', '1'];
  // One pair of slices may differ by more than 3 %, which is exit code 1.
  const failed = (error: { readonly code: number; readonly stdout: string }) => error;
  const { stdout, ...rest } = await promisify(execFile)(process.execPath, args).catch(failed);
  assert.ok(!('code' in rest) || rest.code === 1, stdout);
  assert.equal(stdout.match(/^\| (short|single|long): .*\d \|.*\d \|.*\d % \|$/gm)?.length, 8, stdout);
  assert.equal('code' in rest, /worse by more than 3 %/.test(stdout), stdout);
});

test('the paired change is the median of the ratios', () => {
  // The machine was busy during the second pair: both figures are higher, and the change is the same.
  assert.equal(Math.round(pairedChange([10, 100, 10], [11, 110, 11])), 10);
  assert.equal(Math.round(pairedChange([10, 10, 10], [5, 8, 50])), -20);
});

test('refuses an answer with a missing or wrong token, or without an end', () => {
  const order: Order = { tokens: 4, burst: 1, everyMs: 0 };
  const frame = (id: number, delta: string) => {
    const event = { data: { data: { type: 'response.output_text.delta', delta } } };
    return `id: ${id}\ndata: ${JSON.stringify(event)}\n\n`;
  };
  const words = (expectedText(order) ?? '').split(/(?= )/);
  const answer = (tokens: readonly string[], end: string) => {
    const body = tokens.map((word, index) => frame(index + 1, word)).join('') + end;
    return Buffer.from(`HTTP/1.1 200 OK\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`);
  };
  const end = 'id: 5\nevent: end\ndata: [DONE]\n\n';
  // The first answer of a process is compared word for word.
  assert.throws(() => checkAnswer(answer([...words.slice(0, 3), ' other'], end), order), /has another text/);
  checkAnswer(answer(words, end), order);
  assert.throws(() => checkAnswer(answer(words.slice(0, 3), end), order), /3 token frames instead of 4/);
  assert.throws(() => checkAnswer(answer(words, ''), order), /did not close with its end/);
});
