import { appendFileSync, mkdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { TestContext } from 'node:test';
import accepted from './accepted.json' with { type: 'json' };

/** An id that is misspelt or not accepted is already a type error. */
export type RequirementId = keyof typeof accepted;

export interface Citation {
  readonly id: string;
  readonly test: string;
  readonly file: string;
}

interface OpenCitation {
  readonly test: TestContext;
  readonly id: string;
}

const openCitations: OpenCitation[] = [];
const notRun = new WeakSet<TestContext>();

/**
 * Records that this test shows these requirements. The citation counts only if the test passed. Call it first in the
 * test: a skip before it is not seen.
 */
export function cites(test: TestContext, ...ids: RequirementId[]): void {
  for (const id of ids) {
    if (!Object.hasOwn(accepted, id)) throw new Error(`No requirement has the id "${id}": see docs/contract.`);
  }
  watchSkips(test);
  if (openCitations.length === 0) process.once('exit', recordPassed);
  for (const id of ids) openCitations.push({ test, id });
}

// A skipped test passes for the runner, and the context does not tell that it was skipped.
function watchSkips(test: TestContext): void {
  const { skip, todo } = test;
  test.skip = (message?: string) => {
    notRun.add(test);
    skip.call(test, message);
  };
  test.todo = (message?: string) => {
    notRun.add(test);
    todo.call(test, message);
  };
}

// At the exit and not in `test.after`: there a failed subtest or a failed later hook has not yet failed its test.
function recordPassed(): void {
  const folder = process.env.REQUIREMENTS_CITED;
  if (folder === undefined || folder === '') return;
  const lines = openCitations
    .filter(({ test }) => test.passed && !notRun.has(test))
    .map(({ test, id }) => {
      const file = test.filePath === undefined ? '' : relative(process.cwd(), test.filePath);
      return `${JSON.stringify({ id, test: test.fullName, file } satisfies Citation)}\n`;
    });
  if (lines.length === 0) return;
  mkdirSync(folder, { recursive: true });
  appendFileSync(join(folder, `${process.pid}.jsonl`), lines.join(''));
}
