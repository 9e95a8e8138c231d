import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EMPTY_STATE } from '../domain/chat/chat-state.ts';
import { AgentConditions, type Condition } from './conditions.ts';
import { EndedByOther } from './ports.ts';

const open = (conditions: readonly Condition[], failed: string[] = [], signal = new AbortController().signal) => {
  const asked = { agency: 'own', agent: 'Desk', userContext: {}, member: async () => null, signal };
  const state = async () => EMPTY_STATE;
  return new AgentConditions(conditions, { ...asked, state, onFailure: (part) => failed.push(part) }, 5);
};

const never = () => new Promise<never>(() => {});

test('a function that takes too long is aborted and fails with a sentence', async () => {
  let signal: AbortSignal | null = null;
  const isEnabled: Condition['isEnabled'] = (_about, given) => {
    signal = given;
    return never();
  };
  const failed: string[] = [];
  const conditions = open([{ kind: 'delegate', name: 'Helper', isEnabled }], failed);
  await assert.rejects(conditions.ask(0), {
    code: 'agency_error',
    message:
      'The function `isEnabled` of the delegation to `Helper` of the agency `own`, which the agent `Desk` has, took longer than 0.005 seconds.',
  });
  assert.deepEqual([(signal as AbortSignal | null)?.aborted, failed], [true, ['delegation to `Helper`']]);
});

test('the end of a run does not wait for a function', async () => {
  const controller = new AbortController();
  const failed: string[] = [];
  const asked = open([{ kind: 'tool', name: 'refund', isEnabled: never }], failed, controller.signal).ask(0);
  controller.abort(new Error('The run was cancelled.'));
  await assert.rejects(asked, { message: 'The run was cancelled.' });
  assert.deepEqual(failed, []);
});

test('the function that ended the process is named, and not those beside it', async () => {
  const reject = (error: Error) => () => Promise.reject(error);
  const conditions = open([
    { kind: 'tool', name: 'beside', isEnabled: reject(new EndedByOther()) },
    { kind: 'tool', name: 'guilty', isEnabled: reject(new Error('It ended itself.')) },
  ]);
  await assert.rejects(conditions.ask(0), /the tool `guilty`/);
});

test('all functions are asked concurrently', async () => {
  const { promise: begun, resolve: begin } = Promise.withResolvers<boolean>();
  const hidden = await open([
    { kind: 'tool', name: 'first', isEnabled: () => begun },
    { kind: 'tool', name: 'second', isEnabled: async () => begin(false) ?? true },
  ]).ask(0);
  assert.deepEqual(hidden, [{ kind: 'tool', name: 'first' }]);
});
