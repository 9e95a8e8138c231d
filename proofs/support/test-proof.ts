import { run } from 'node:test';
import { counted } from '@runwire/test-kit/scale.ts';
import { LeftOut, Shortfall } from '@runwire/test-kit/shortfall.ts';
import type { Proof } from './proof.ts';

/** A proof that consists of test files. The gate runs those of them that do not end with `.full.test.ts`, in their small form. */
export interface TestProof extends Pick<Proof, 'minutes' | 'faults' | 'figures' | 'measuresTime' | 'spreads'> {
  readonly files: readonly string[];
  /** The tests that find the planted faults. The others do not run with a fault. */
  readonly test: string | RegExp;
}

/** Ends a test that waits for ever. */
const TEST_TIMEOUT_MS = 900_000;
const FAULT_TIMEOUT_MS = 120_000;

export function proofFromTests(name: string, { files, test, ...rest }: TestProof): Proof {
  return {
    name,
    ...rest,
    async run({ fault, nodes, scale }) {
      process.env.TEST_SCALE = scale('small', 'full');
      if (fault !== null) process.env.TEST_FAULT = fault;
      if (nodes !== null) process.env.TEST_NODES = String(nodes);
      const tests = await runFiles(files, fault === null ? undefined : test);
      return { tests, ...counted() };
    },
  };
}

/** Resolves to the number of tests that passed. Throws when the first test fails: the others cannot change the result. */
async function runFiles(files: readonly string[], onlyTest?: string | RegExp): Promise<number> {
  const events = run({
    files: [...files],
    isolation: 'none',
    timeout: onlyTest === undefined ? TEST_TIMEOUT_MS : FAULT_TIMEOUT_MS,
    ...(onlyTest === undefined
      ? {}
      : { testNamePatterns: [typeof onlyTest === 'string' ? new RegExp(RegExp.escape(onlyTest)) : onlyTest] }),
  });
  let passed = 0;
  for await (const { type, data } of events) {
    if (type === 'test:fail') throw failureIn(data.name, data.details.error);
    if (type !== 'test:pass' || data.details.type === 'suite') continue;
    if (typeof data.skip === 'string') throw new LeftOut(`${data.name}: ${data.skip}`);
    passed += 1;
  }
  if (passed === 0) throw new Error(`No test ran in ${files.join(', ')}.`);
  return passed;
}

/** A `Shortfall` is printed as its sentence after the name of the test, any other error with its stack. */
function failureIn(test: string, error: Error): Error {
  const cause = error.cause instanceof Error ? error.cause : error;
  if (cause instanceof LeftOut) return cause;
  if (cause instanceof Shortfall || cause.name === 'AssertionError') return new Shortfall(`${test}:\n${cause.message}`);
  return cause;
}
