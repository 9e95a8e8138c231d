import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AgentGuardrails } from './guardrails.ts';
import type { Guardrail } from './ports.ts';

const open = (guardrails: readonly Guardrail[], signal = new AbortController().signal) =>
  new AgentGuardrails(
    guardrails,
    { agency: 'own', agent: 'Desk', userContext: {}, member: async () => null, signal, onFailure: () => {} },
    5,
  );

test('a check that takes too long is aborted and fails with a sentence', async () => {
  let signal: AbortSignal | null = null;
  const slow: Guardrail = {
    name: 'slow',
    on: 'output',
    check: (_about, given) => {
      signal = given;
      return new Promise(() => {});
    },
  };
  await assert.rejects(open([slow]).ask('output', { text: 'Hi' }), {
    code: 'agency_error',
    message:
      'The function `check` of the guardrail `slow` of the agency `own`, which the agent `Desk` has, took longer than 0.005 seconds.',
  });
  assert.equal((signal as AbortSignal | null)?.aborted, true);
});

test('the end of a run does not wait for a check', async () => {
  const controller = new AbortController();
  const never: Guardrail = { name: 'never', on: 'output', check: () => new Promise(() => {}) };
  const asked = open([never], controller.signal).ask('output', { text: 'Hi' });
  controller.abort(new Error('The run was cancelled.'));
  await assert.rejects(asked, { message: 'The run was cancelled.' });
});

test('replaced arguments are what JSON keeps of them', async () => {
  const dated: Guardrail = {
    name: 'dated',
    on: 'toolCall',
    check: async () => ({ replace: { at: new Date(0), gone: undefined } }),
  };
  const { value, isReplaced } = await open([dated]).ask('toolCall', { tool: 'a', arguments: {} }, 'c1');
  assert.deepEqual([value, isReplaced], [{ at: '1970-01-01T00:00:00.000Z' }, true]);
  const cyclic: Record<string, unknown> = {};
  cyclic.self = cyclic;
  const wrong: Guardrail = { name: 'wrong', on: 'toolCall', check: async () => ({ replace: cyclic }) };
  await assert.rejects(open([wrong]).ask('toolCall', { tool: 'a', arguments: {} }, 'c1'), /no JSON object/);
});
