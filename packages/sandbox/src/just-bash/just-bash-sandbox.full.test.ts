import { test } from 'node:test';
import { checkLimit } from '../testing/interpreter-limit.ts';
import { checkCase, SANDBOX_CASES, sandboxConformance } from '../testing/sandbox-conformance.ts';
import { JustBashSandbox } from './just-bash-sandbox.ts';

sandboxConformance('just-bash', () => new JustBashSandbox(), null);

for (const expected of SANDBOX_CASES.filter(({ isLong }) => isLong === true)) {
  test(`just-bash: ${expected.claim}`, () => checkCase(new JustBashSandbox(), expected));
}

const LIMITS: Readonly<Record<string, string>> = {
  'calls without end in a pipe, whose exit code is ignored': 'f() { f | cat; }; (f || true) | cat; echo after',
  'a long text': 'x=x; while true; do x=$x$x; done; echo after',
};

for (const [name, command] of Object.entries(LIMITS)) {
  test(`just-bash: ends the command at a limit: ${name}`, () => checkLimit(new JustBashSandbox(), command));
}
