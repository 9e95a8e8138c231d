import { type TestContext, type TestOptions, test } from 'node:test';
import { inGate } from './scale.ts';

/**
 * A test that the gate leaves out, beside tests of the gate that use the same rig: `npm run check:full` runs the file
 * again at full scale. No requirement may be cited only here.
 */
export function fullTest(name: string, options: TestOptions, check: (t: TestContext) => Promise<void>): void;
export function fullTest(name: string, check: (t: TestContext) => Promise<void>): void;
export function fullTest(name: string, ...rest: readonly unknown[]): void {
  if (!inGate()) void test(name, ...(rest as [TestOptions, (t: TestContext) => Promise<void>]));
}
