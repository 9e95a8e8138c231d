import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_IMAGES } from '@runwire/test-kit/no-images.ts';
import type { RunEventBody } from '../domain/run/events.ts';
import { RunFailure } from '../domain/run/run-failure.ts';
import type { Step } from '../domain/run/step.ts';
import { FinishedSteps } from './finished-steps.ts';
import { runLoop } from './loop.ts';
import { modelStep } from './model-step.ts';
import type { Model, ModelOutput, ModelRequest } from './ports.ts';
import { Progress } from './progress.ts';
import type { RunScope } from './run-scope.ts';
import { emptyRunState } from './run-state.ts';
import { StepGate } from './step-gate.ts';
import type { TeamAgent } from './team.ts';

type Reply = (output: ModelOutput, signal: AbortSignal) => Promise<void>;

/** An agent whose answer must be `{"n": …}`, and a model that plays the replies in their order. */
class Rig {
  readonly requests: ModelRequest[] = [];
  readonly events: RunEventBody[] = [];
  readonly journal: Step[] = [];
  readonly progress = new Progress();
  readonly #replies: readonly Reply[];

  constructor(...replies: readonly Reply[]) {
    this.#replies = replies;
  }

  async run(): Promise<Step> {
    const { signal } = new AbortController();
    const model: Model = {
      id: 'own/model',
      call: async (request, output, callSignal) => {
        const reply = this.#replies[this.requests.length];
        this.requests.push(request);
        await reply?.(output, callSignal);
        return { usage: null };
      },
    };
    const agent: TeamAgent = {
      name: 'Extractor',
      instructions: '',
      model,
      fallback: [],
      windowTokens: 100_000,
      reachedWindowTokens: 100_000,
      tools: [],
      modelTools: [],
      handOffs: new Set(),
      webSearch: false,
      output: {
        jsonSchema: {},
        check: (value) => ((value as { n?: number }).n === 1 ? { value } : { problem: '`n` must be 1' }),
      },
      guardrails: null,
      conditions: null,
      flows: [],
      failedServers: [],
    };
    const scope: RunScope = {
      runId: 'run_1',
      attempt: 1,
      propagatesTrace: false,
      team: {
        has: () => true,
        agent: async () => agent,
        member: async () => null,
        exchanges: async () => [],
        rememberedTools: async () => new Set<string>(),
      },
      finished: new FinishedSteps([], false),
      continuation: null,
      recorded: null,
      state: emptyRunState(),
      gate: new StepGate({ signal, stopsAfterStep: () => false, stepDone: () => {} }, { hasOpenCalls: false }),
      limits: { steps: 50, depth: 5, handOffs: 10, toolOutputCharacters: 40_000 },
      userContext: undefined,
      progress: this.progress,
      room: { isFull: false, onceRoom: () => {} },
      signal,
      mayCall: () => null,
      images: NO_IMAGES,
      unfinished: { cut: () => {}, wait: () => {} },
      modelStep: (input) => modelStep(scope, input),
      emit: (event) => void this.events.push(event),
      publish: async () => null,
      journal: async (step) => void this.journal.push(step),
    };
    const prompt = [{ kind: 'user' as const, text: 'How many?' }];
    return (await runLoop(scope, {
      loop: '',
      callerAgent: null,
      depth: 0,
      agent,
      addedInstructions: '',
      prompt,
      earlierItems: 0,
      resultCheck: null,
      trace: null,
    })) as Step;
  }
}

const say =
  (text: string): Reply =>
  async (output) =>
    output.text(text);

const MIB = 'x'.repeat(1024 * 1024);

test('an answer that does not end is cut off at 4 MiB, counts as a wrong one and is charged', async () => {
  let written = 0;
  const rig = new Rig(async (output, signal) => {
    for (; written < 20 && !signal.aborted; written += 1) output.text(MIB);
    signal.throwIfAborted();
  }, say('{"n":1}'));
  await rig.run();
  assert.equal(written, 5, 'the call is aborted at the first byte above the limit');
  const [cut] = rig.journal;
  assert.deepEqual([cut?.tried?.text, cut?.status], ['', 'failed']);
  assert.match(cut?.tried?.problem ?? '', /it was too long; write a shorter one/);
  assert.equal(cut?.usage?.outputTokens, (5 * MIB.length) / 4);
  assert.equal(rig.requests[1]?.prompt.length, 2, 'the model is told, and does not get the text again');
  assert.deepEqual(rig.progress.output, { value: { n: 1 } });
});

test('an answer that is nested too deep is a wrong one', async () => {
  const deep = (levels: number) => `{"n":1,"more":${'['.repeat(levels)}${']'.repeat(levels)}}`;
  const rig = new Rig(say(deep(100_000)), say(deep(500)), say(deep(499)));
  await rig.run();
  assert.deepEqual(
    rig.journal.map(({ tried }) => tried?.problem),
    Array(2).fill('it is nested deeper than 500 levels'),
  );
  assert.ok(JSON.stringify(rig.progress.output));
});

test('readers get nothing of a wrong answer: no reasoning, no call that was not made', async () => {
  const rig = new Rig(
    async (output) => {
      output.reasoning('Let me ');
      output.reasoning('note it.');
      output.toolCall('c1', 'note', '{"half":');
      throw new RunFailure('model_error', 'The answer reached the limit.', { problem: 'cut_short' });
    },
    async (output) => {
      output.reasoning('It is two.');
      output.text('{"n":2}');
    },
    async (output) => {
      output.reasoning('It is ');
      output.reasoning('one.');
      output.text('{"n":1}');
    },
  );
  await rig.run();
  const shown = rig.events.flatMap((event) => (event.type === 'delta' ? [event.text] : []));
  assert.deepEqual(shown, ['It is one.', '{"n":1}']);
  assert.deepEqual(
    rig.progress.items.map(({ kind, text }) => [kind, text]),
    [
      ['reasoning', 'It is one.'],
      ['message', '{"n":1}'],
    ],
  );
  assert.deepEqual(
    rig.journal.map(({ output, usage }) => [output, usage?.outputTokens]),
    [
      [[], 6],
      [[], 5],
    ],
    'the wrong answers are charged',
  );
  assert.equal(new FinishedSteps(rig.journal, false).hasOpenCalls, false, 'another node may take the run over');
});
