import { appendFileSync, mkdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { TestContext } from 'node:test';
import { allRequirements, type CitableId } from './all-requirements.ts';

export interface Citation {
  readonly id: string;
  readonly test: string;
  readonly file: string;
}

interface OpenCitation {
  readonly test: TestContext;
  readonly id: string;
}

const requirementsById = new Map(allRequirements.map((requirement) => [requirement.id, requirement]));
const openCitations: OpenCitation[] = [];
const notRun = new WeakSet<TestContext>();

/**
 * Records that this test shows these requirements. The citation counts only if the test passed. Call it first in the
 * test: a skip before it is not seen.
 */
export function cites(test: TestContext, ...ids: CitableId[]): void {
  for (const id of ids) {
    const requirement = requirementsById.get(id);
    if (requirement === undefined) {
      throw new Error(`No requirement has the id "${id}": see requirements/all-requirements.ts.`);
    }
    if (requirement.later !== undefined) {
      throw new Error(`"${id}" is marked as later (${requirement.later}): remove the mark where this test shows it.`);
    }
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
