import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runCase, sandboxConformance } from '../testing/sandbox-conformance.ts';
import { JustBashSandbox } from './just-bash-sandbox.ts';

sandboxConformance('just-bash', () => new JustBashSandbox(), null);

const LIMITS: Readonly<Record<string, string>> = {
  'calls without end': 'f() { f; }; f; echo after',
  'calls without end in a pipe, whose exit code is ignored': 'f() { f | cat; }; (f || true) | cat; echo after',
  'a long text': 'x=x; while true; do x=$x$x; done; echo after',
};

for (const [name, command] of Object.entries(LIMITS)) {
  test(`just-bash: ends the command at a limit: ${name}`, async () => {
    const limits = { memoryMib: 1024 };
    const { end, output } = await runCase(new JustBashSandbox(), { command, limits });
    assert.deepEqual(end, { end: 'limit', limit: 'interpreter' }, output);
    assert.match(output, /exceeded/);
    assert.doesNotMatch(output, /after/);
  });
}
