import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';

/** The result of a run of tests: which tests failed and why, and what each file cost. */
export interface TestReport {
  readonly failed: readonly { readonly location: string; readonly name: string; readonly error: string }[];
  /** The files in which tests were skipped. */
  readonly skipped: readonly string[];
  readonly passed: boolean;
  /** By the names of Node's test runner: tests, pass, fail, … */
  readonly counts: Readonly<Record<string, number>>;
  /** CPU seconds per file. */
  readonly cpu: readonly { readonly file: string; readonly seconds: number }[];
}

interface TestFailure {
  readonly failureType?: string;
  readonly message?: string;
  readonly stack?: string;
  readonly cause?: unknown;
}

function getReason(error: TestFailure | undefined): string {
  const cause = (error?.cause ?? error) as TestFailure | string | undefined;
  return typeof cause === 'string' ? cause : (cause?.stack ?? cause?.message ?? 'failed');
}

/** The closing lines of Node's test runner. */
const CLOSING_LINES = /^ℹ (?:tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+\n/gm;

export const withoutClosingLines = (output: string) => output.replace(CLOSING_LINES, '');

/** The sums of the counts of several processes. */
export function sumOfCounts(reports: readonly Pick<TestReport, 'counts'>[]): TestReport['counts'] {
  const sums: Record<string, number> = {};
  for (const { counts } of reports) {
    for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count;
  }
  return sums;
}

export function closingLines(counts: TestReport['counts'], ms: number): string {
  const lines = Object.entries({ ...counts, duration_ms: ms });
  return lines.map(([name, value]) => `ℹ ${name} ${value}\n`).join('');
}

const COSTLIEST = 15;

export function costliestFiles({ cpu }: Pick<TestReport, 'cpu'>): string {
  const toSeconds = new Map<string, number>();
  for (const { file, seconds } of cpu) toSeconds.set(file, (toSeconds.get(file) ?? 0) + seconds);
  const files = [...toSeconds]
    .map(([file, seconds]) => ({ file, seconds }))
    .toSorted((a, b) => b.seconds - a.seconds)
    .slice(0, COSTLIEST);
  const lines = files.map(({ file, seconds }) => `  ${seconds.toFixed(1).padStart(6)} s  ${file}\n`);
  return `CPU seconds of the costliest files, without services:\n${lines.join('')}`;
}

/** Printed last, so that the end of every log names the failures. Empty if there are none. */
export function failureLines({ failed }: Pick<TestReport, 'failed'>): string {
  const failures = failed.map(({ location, name, error }) => {
    const lines = error.split('\n').filter((line) => !line.includes('(node:internal/'));
    return `\n✖ ${name}\n  ${location}\n${lines.map((line) => `    ${line}\n`).join('')}`;
  });
  return failures.length === 0 ? '' : `\n${failures.length} failed:\n${failures.join('')}`;
}

/** A reporter of Node's test runner. */
export async function* testReport(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const failed: TestReport['failed'][number][] = [];
  const skipped: string[] = [];
  let passed = false;
  let counts: TestReport['counts'] = {};
  for await (const { type, data } of source) {
    if (type === 'test:fail') {
      const error = data.details.error as TestFailure | undefined;
      // The failed subtests are reported themselves.
      if (error?.failureType === 'subtestsFailed') continue;
      const location = data.file === undefined ? '' : `${relative('.', data.file)}:${data.line ?? 0}`;
      failed.push({ location, name: data.name, error: getReason(error) });
    }
    if (type === 'test:pass' && data.skip !== undefined) skipped.push(relative('.', data.file ?? ''));
    if (type === 'test:summary') {
      const { tests, suites, passed: pass, cancelled, skipped: left, todo } = data.counts;
      counts = { tests, suites, pass, fail: tests - pass - cancelled - left - todo, cancelled, skipped: left, todo };
      passed = data.success;
    }
  }
  yield JSON.stringify({ failed, skipped, passed, counts, cpu: [] } satisfies TestReport);
}
