import { run } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { counted, scale } from '@runwire/test-kit/scale.ts';
import { expectEqual, LeftOut, Shortfall } from '@runwire/test-kit/shortfall.ts';
import type { NamedProof } from './proof-table.ts';

export interface ProofOptions {
  /** The planted fault, with which the proof must fail; null to run without one. */
  readonly fault: string | null;
  /** How many servers share one PostgreSQL; null for one server on the embedded store. */
  readonly nodes: number | null;
  readonly short: boolean;
}

/** Ends a test that waits for ever. */
const TEST_TIMEOUT_MS = 7_200_000;
const FAULT_TIMEOUT_MS = 600_000;
/** How long the files' hooks may take after the last test. */
const CLOSING_MS = 10_000;

/**
 * Runs the test files of a proof in this process. Resolves to the figures that they counted. Throws a `Shortfall` if a
 * test fails or a figure is wrong, `LeftOut` if a test cannot run here.
 */
export async function prove(
  { files, test, figures }: NamedProof,
  options: ProofOptions,
): Promise<Record<string, number>> {
  const { fault, nodes, short } = options;
  process.env.TEST_SCALE = short ? 'small' : 'full';
  if (fault !== null) process.env.TEST_FAULT = fault;
  if (nodes !== null) process.env.TEST_NODES = String(nodes);
  const tests = await runFiles(files, fault === null ? undefined : test);
  const found: Record<string, number> = { tests, ...counted() };
  const exact = nodes === null ? (figures?.(scale) ?? {}) : {};
  for (const [key, expected] of Object.entries(exact)) expectEqual(key, found[key] ?? Number.NaN, expected);
  return found;
}

/** Resolves to the number of tests that passed. Throws when the first test fails: the others cannot change the result. */
async function runFiles(files: readonly string[], only: string | RegExp | undefined): Promise<number> {
  const pattern = typeof only === 'string' ? new RegExp(RegExp.escape(only)) : only;
  const events = run({
    files: [...files],
    isolation: 'none',
    timeout: pattern === undefined ? TEST_TIMEOUT_MS : FAULT_TIMEOUT_MS,
    ...(pattern === undefined ? {} : { testNamePatterns: [pattern] }),
  });
  const reported = events[Symbol.asyncIterator]();
  let [open, passed] = [0, 0];
  for (;;) {
    // Node's runner waits as long as a file keeps something open. All tests are enqueued before the first one starts.
    const isOver = passed > 0 && open === 0;
    const next = await (isOver ? Promise.race([reported.next(), sleep(CLOSING_MS, null)]) : reported.next());
    if (next === null || next.done === true) break;
    const { type, data } = next.value;
    if (type === 'test:enqueue' && data.nesting === 0) open += 1;
    if (type === 'test:fail') throw failureIn(data.name, data.details.error);
    if (type === 'test:pass' && data.nesting === 0) open -= 1;
    if (type !== 'test:pass' || data.details.type === 'suite') continue;
    if (typeof data.skip === 'string') throw new LeftOut(`${data.name}: ${data.skip}`);
    passed += 1;
  }
  if (passed === 0) throw new Error(`No test ran in ${files.join(', ')}.`);
  return passed;
}

/** A failed expectation is printed as its sentence after the test's name, any other error with its stack. */
function failureIn(test: string, error: Error): Error {
  const cause = error.cause instanceof Error ? error.cause : error;
  const isExpectation = cause instanceof Shortfall || cause.name === 'AssertionError';
  return isExpectation ? new Shortfall(`${test}:\n${cause.message}`) : cause;
}
