import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';

/** What is left of a run of tests when its output has scrolled away: what failed and why, and what each file took. */
export interface TestReport {
  readonly failed: readonly { readonly where: string; readonly name: string; readonly error: string }[];
  readonly files: readonly FileReport[];
  /** As the test runner counted them itself. */
  readonly counts: TestCounts;
}

export interface FileReport {
  readonly file: string;
  readonly seconds: number;
  readonly tests: number;
  readonly skipped: number;
}

export interface TestCounts {
  readonly tests: number;
  readonly passed: number;
  readonly cancelled: number;
  readonly skipped: number;
  readonly todo: number;
}

interface TestFailure {
  readonly failureType?: string;
  readonly message?: string;
  readonly stack?: string;
  readonly cause?: unknown;
}

function told(error: TestFailure | undefined): string {
  const cause = (error?.cause ?? error) as TestFailure | string | undefined;
  return typeof cause === 'string' ? cause : (cause?.stack ?? cause?.message ?? 'failed');
}

const SLOWEST = 10;

/** The last words of the gate on its tests: what failed stands at the very end, where every log has it. */
export function lastWords(reports: Readonly<Record<string, TestReport>>): string {
  const passes = Object.entries(reports);
  const files = passes.flatMap(([pass, report]) => report.files.map((file) => ({ ...file, pass })));
  const slowest = files.sort((a, b) => b.seconds - a.seconds).slice(0, SLOWEST);
  const times = slowest.map(({ file, seconds, pass }) => `  ${seconds.toFixed(1).padStart(6)} s  ${file} (${pass})\n`);
  const failures = passes.flatMap(([pass, { failed }]) =>
    failed.map(({ where, name, error }) => {
      const lines = error.split('\n').filter((line) => !line.includes('(node:internal/'));
      return `\n✖ ${name}\n  ${where} (${pass})\n${lines.map((line) => `    ${line}\n`).join('')}`;
    }),
  );
  const count = failures.length === 0 ? '' : `\n${failures.length} failed:\n`;
  return `slowest files:\n${times.join('')}${count}${failures.join('')}`;
}

/** A reporter of Node's test runner. */
export async function* testReport(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const failed: TestReport['failed'][number][] = [];
  const files: FileReport[] = [];
  let counts: TestCounts = { tests: 0, passed: 0, cancelled: 0, skipped: 0, todo: 0 };
  for await (const { type, data } of source) {
    if (type === 'test:fail') {
      const error = data.details.error as TestFailure | undefined;
      // A test fails with its subtests; those say why.
      if (error?.failureType === 'subtestsFailed') continue;
      const where = data.file === undefined ? '' : `${relative('.', data.file)}:${data.line ?? 0}`;
      failed.push({ where, name: data.name, error: told(error) });
    }
    if (type !== 'test:summary') continue;
    if (data.file === undefined) counts = data.counts;
    else {
      const { tests, skipped } = data.counts;
      files.push({ file: relative('.', data.file), seconds: data.duration_ms / 1000, tests, skipped });
    }
  }
  yield JSON.stringify({ failed, files, counts } satisfies TestReport);
}
