import assert from 'node:assert/strict';
import type { Sandbox } from '../sandbox.ts';
import { runCase } from './sandbox-conformance.ts';

/** The interpreter ends this command before its `echo after`. */
export async function checkLimit(sandbox: Sandbox, command: string): Promise<void> {
  const { end, output } = await runCase(sandbox, { command, limits: { memoryMib: 1024 } });
  assert.deepEqual(end, { end: 'limit', limit: 'interpreter' }, output);
  assert.match(output, /exceeded/);
  assert.doesNotMatch(output, /after/);
}
