import { test } from 'node:test';
import { checkCase, SANDBOX_CASES } from '../testing/sandbox-conformance.ts';
import { JustBashSandbox } from './just-bash-sandbox.ts';

for (const expected of SANDBOX_CASES.filter(({ isLong }) => isLong === true)) {
  test(`just-bash: ${expected.claim}`, () => checkCase(new JustBashSandbox(), expected));
}
