import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Step } from '../domain/run/step.ts';
import { Progress } from './progress.ts';

const used = (inputTokens: number) => ({
  requestCount: 1,
  inputTokens,
  cachedTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
});
const modelStep = (loop: string) =>
  ({ kind: 'model', loop, callId: null, usage: used(1), model: 'own/model' }) as unknown as Step;
const outcome = (callId: string) => ({ kind: 'tool', loop: '', callId, usage: null, model: null }) as unknown as Step;

test('the usage of a failed call is stored with the step that follows from the failure', () => {
  const progress = new Progress();
  progress.addFailed('call_1', used(100), 'own/model');
  progress.addFailed('', used(1000), 'own/other');
  assert.equal(progress.usage.inputTokens, 1100);
  progress.settle(modelStep('call_2'));
  assert.equal(progress.settled.usage.inputTokens, 1, 'a step of another loop does not contain it');
  progress.settle(outcome('call_1'));
  assert.equal(progress.settled.usage.inputTokens, 101, 'the delegated agent failed');
  progress.settle(modelStep(''));
  assert.equal(progress.settled.usage.inputTokens, 1102, 'the fallback answered');
  assert.deepEqual(progress.settled.byModel.map(({ model, inputTokens }) => `${model} ${inputTokens}`).toSorted(), [
    'own/model 102',
    'own/other 1000',
  ]);
  progress.settle(outcome('call_1'));
  assert.equal(progress.settled.usage.inputTokens, 1102, 'once');
});

test('only a model step of an earlier attempt counts as an accepted call', () => {
  const totals = { usage: used(0), byModel: [] };
  const accepted = (kinds: readonly Step['kind'][]) => {
    const progress = new Progress();
    const steps = kinds.map((kind) => ({ kind, output: [] }) as unknown as Step);
    progress.restore(steps, steps.length, totals);
    return progress.accepted;
  };
  assert.equal(accepted(['begin', 'tool']), false, 'an approved call before the first model call');
  assert.equal(accepted(['begin', 'tool', 'model']), true);
});
