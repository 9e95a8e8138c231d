import { test } from 'node:test';
import { checkLimit } from '../testing/interpreter-limit.ts';
import { checkCase, SANDBOX_CASES } from '../testing/sandbox-conformance.ts';
import { JustBashSandbox } from './just-bash-sandbox.ts';

/* The gate has two commands, because each one starts a process; all cases of the conformance suite run in check:full. */

for (const expected of SANDBOX_CASES.slice(0, 1)) {
  test(`just-bash: ${expected.claim}`, () => checkCase(new JustBashSandbox(), expected));
}

test('just-bash: ends the command at a limit: calls without end', () =>
  checkLimit(new JustBashSandbox(), 'f() { f; }; f; echo after'));
