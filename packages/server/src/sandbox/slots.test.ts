import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SANDBOX_TEST_LIMITS } from '@runwire/test-kit/sandbox-conformance.ts';
import type { Sandbox, SandboxCommand, SandboxEnd } from '../agent/sandbox-port.ts';
import { SandboxSlots } from './slots.ts';

const NEVER = new AbortController().signal;
const EXITED: SandboxEnd = { end: 'exited', exitCode: 0 };

const commandOf = (command: string): SandboxCommand => ({
  command,
  folder: '/',
  agencyFolder: null,
  workingFolder: '',
  limits: SANDBOX_TEST_LIMITS,
});

/** A sandbox whose commands end when the test resolves them. */
function held() {
  const started: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<SandboxEnd>>();
  const sandbox: Sandbox = {
    info: { kind: 'exec' },
    owner: null,
    streamsOutput: true,
    limitsProcesses: false,
    run({ command }) {
      started.push(command);
      const end = Promise.withResolvers<SandboxEnd>();
      ends.set(command, end);
      return end.promise;
    },
  };
  return { sandbox, started, end: (command: string) => ends.get(command) };
}

test('commands beyond the slots wait in their order', async () => {
  const { sandbox, started, end } = held();
  const slots = new SandboxSlots(sandbox, 2);
  const runs = ['a', 'b', 'c', 'd'].map((command) => slots.run(commandOf(command), () => {}, NEVER));
  await new Promise(setImmediate);
  assert.deepEqual(started, ['a', 'b']);
  end('b')?.resolve(EXITED);
  await runs[1];
  await new Promise(setImmediate);
  assert.deepEqual(started, ['a', 'b', 'c']);
  for (const command of ['a', 'c', 'd']) {
    await new Promise(setImmediate);
    end(command)?.resolve(EXITED);
  }
  assert.deepEqual(await Promise.all(runs), [EXITED, EXITED, EXITED, EXITED]);
});

test('an aborted wait takes no slot, and a failure frees one', async () => {
  const { sandbox, started, end } = held();
  const slots = new SandboxSlots(sandbox, 1);
  const abort = new AbortController();
  const first = slots.run(commandOf('a'), () => {}, NEVER);
  const waiting = slots.run(commandOf('b'), () => {}, abort.signal);
  const last = slots.run(commandOf('c'), () => {}, NEVER);
  await new Promise(setImmediate);
  abort.abort();
  assert.deepEqual(await waiting, { end: 'aborted' });
  end('a')?.reject(new Error('broken'));
  await assert.rejects(first, /broken/);
  await new Promise(setImmediate);
  assert.deepEqual(started, ['a', 'c']);
  end('c')?.resolve(EXITED);
  assert.deepEqual(await last, EXITED);
});
