import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { callTool } from './call-tool.ts';
import type { Tool, ToolOutcome } from './ports.ts';

test('files of a call that outlives its run are discarded', async () => {
  const { promise, resolve } = Promise.withResolvers<ToolOutcome>();
  let discarded = 0;
  const tool = { name: 'write_file', call: () => promise };
  const call = { kind: 'tool_call', callId: 'call_1', name: 'write_file', text: '{}' };
  const abort = new AbortController();
  const setting = {
    ...{
      runId: 'run_1',
      userContext: null,
      member: async () => null,
      signal: abort.signal,
      prompt: [],
      approval: null,
    },
    ...{ room: { isFull: false, onceRoom: () => {} }, onProgress: () => {} },
  };
  const outcome = callTool(call as never, [tool as unknown as Tool], setting as never);
  await setImmediate();
  abort.abort(new Error('cancelled'));
  assert.equal((await outcome).status, 'failed');
  const discard = async () => {
    discarded += 1;
  };
  const publication = { changes: [], writtenAt: 0, batch: null, discard };
  resolve({ status: 'completed', text: '', publication } as unknown as ToolOutcome);
  await setImmediate();
  assert.equal(discarded, 1);
});
