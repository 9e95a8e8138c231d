import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';

/** What is left of a run of tests when its output has scrolled away: what failed and why, and which files took long. */
export interface TestReport {
  readonly failed: readonly { readonly where: string; readonly name: string; readonly error: string }[];
  readonly files: readonly { readonly file: string; readonly seconds: number }[];
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

const SLOWEST = 8;

/** The last words of the gate on its tests: what failed stands at the very end, where every log has it. */
export function lastWords({ failed, files }: TestReport): string {
  const slowest = [...files].sort((a, b) => b.seconds - a.seconds).slice(0, SLOWEST);
  const times = slowest.map(({ file, seconds }) => `  ${seconds.toFixed(1).padStart(6)} s  ${file}\n`);
  const failures = failed.map(({ where, name, error }) => {
    const lines = error.split('\n').filter((line) => !line.includes('(node:internal/'));
    return `\n✖ ${name}\n  ${where}\n${lines.map((line) => `    ${line}\n`).join('')}`;
  });
  const count = failed.length === 0 ? '' : `\n${failed.length} failed:\n`;
  return `slowest files:\n${times.join('')}${count}${failures.join('')}`;
}

/** A reporter of Node's test runner. */
export async function* testReport(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const failed: TestReport['failed'][number][] = [];
  const files: TestReport['files'][number][] = [];
  for await (const { type, data } of source) {
    if (type === 'test:fail') {
      const error = data.details.error as TestFailure | undefined;
      // A test fails with its subtests; those say why.
      if (error?.failureType === 'subtestsFailed') continue;
      const where = data.file === undefined ? '' : `${relative('.', data.file)}:${data.line ?? 0}`;
      failed.push({ where, name: data.name, error: told(error) });
    }
    if (type === 'test:summary' && data.file !== undefined) {
      files.push({ file: relative('.', data.file), seconds: data.duration_ms / 1000 });
    }
  }
  yield JSON.stringify({ failed, files } satisfies TestReport);
}
