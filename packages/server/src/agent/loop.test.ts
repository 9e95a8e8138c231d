import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_IMAGES } from '@runwire/test-kit/no-images.ts';
import type { RunEventBody } from '../domain/run/events.ts';
import { handOffName } from '../domain/run/hand-off-name.ts';
import type { Step } from '../domain/run/step.ts';
import { FinishedSteps } from './finished-steps.ts';
import { flowTools } from './flow-tools.ts';
import { runLoop } from './loop.ts';
import { modelStep } from './model-step.ts';
import type { Model, ModelRequest, Tool } from './ports.ts';
import { Progress } from './progress.ts';
import type { RunScope } from './run-scope.ts';
import { emptyRunState } from './run-state.ts';
import { StepGate } from './step-gate.ts';
import type { Flow, TeamAgent } from './team.ts';

/*
 * One run with a hand-off, two parallel delegations, one of which delegates again, and a tool in each loop. The models are
 * pure functions of their prompts, so every attempt asks the same. The process dies after each journalled step.
 */

type Call = readonly [name: string, given: object];
type Reply = string | readonly Call[];

const ask = (to: string, message: string): Call => ['send_message', { recipient_agent: to, message }];

/** Each agent's replies, by the number of tool outputs that it has seen. */
const REPLIES: Readonly<Record<string, readonly Reply[]>> = {
  Triage: [[['transfer_to_Lead', {}]]],
  Lead: ['', [ask('Research', 'Find.'), ask('Facts', 'When?'), ['count', {}]], '', '', 'Both agree.'],
  Research: [
    [
      ['count', {}],
      ['count', {}],
    ],
    '',
    [ask('Facts', 'So?')],
    'It is so.',
  ],
  Facts: [[['count', {}]], 'In May.'],
};

const FLOWS: Readonly<Record<string, readonly Flow[]>> = {
  Triage: [{ to: 'Lead', description: '', kind: 'handoff', memory: 'chat' }],
  Lead: ['Research', 'Facts'].map((to) => ({ to, description: '', kind: 'delegate', memory: 'none' })),
  Research: [{ to: 'Facts', description: '', kind: 'delegate', memory: 'none' }],
};

class ProcessEnd extends Error {}

/** What happens outside of the process: it survives a crash. */
class Outside {
  readonly journal: Step[] = [];
  /** The number of the last step that began, as it is stored with each step. */
  begun = 0;
  readonly numbers: number[] = [];
  modelCalls = 0;
  readonly counted: string[] = [];
}

async function attempt(outside: Outside, number: number, diesAfter: number): Promise<string> {
  const controller = new AbortController();
  const progress = new Progress();
  const finished = new FinishedSteps(outside.journal, false);
  progress.modelSteps = finished.modelSteps;
  progress.handOffs = finished.handOffs;
  progress.restore(outside.journal, outside.begun, progress);
  const model: Model = {
    id: 'own/model',
    async call({ instructions, prompt, step }: ModelRequest, output) {
      outside.modelCalls += 1;
      outside.numbers.push(step);
      const seen = prompt.filter(({ kind }) => kind === 'tool_output').length;
      const reply = REPLIES[instructions]?.[seen];
      if (reply === undefined || reply === '') throw new Error(`${instructions} has no reply after ${seen} outputs.`);
      if (typeof reply === 'string') output.text(reply);
      else
        for (const [index, [name, given]] of reply.entries()) {
          // The same in every attempt, and unique in the run.
          output.toolCall(
            `${instructions}/${seen}/${index}/${prompt.length}/${prompt[0]?.kind === 'user' ? prompt[0].text : ''}`,
            name,
            JSON.stringify(given),
          );
        }
      await new Promise(setImmediate);
      return { usage: { requestCount: 1, inputTokens: 10, cachedTokens: 0, outputTokens: 1, reasoningTokens: 0 } };
    },
  };
  const count: Tool = {
    name: 'count',
    description: '',
    inputSchema: {},
    repeatable: true,
    checkInput: (value) => ({ value }),
    async call(_input, { callId }) {
      outside.counted.push(callId);
      return { status: 'completed', text: 'counted' };
    },
  };
  const handOffs = (name: string) =>
    (FLOWS[name] ?? []).flatMap(({ kind, to }) => (kind === 'handoff' ? [handOffName(to)] : []));
  const getAgent = (name: string): TeamAgent => ({
    name,
    instructions: name,
    model,
    fallback: [],
    output: null,
    windowTokens: 100_000,
    reachedWindowTokens: 100_000,
    webSearch: false,
    tools: [count],
    modelTools: [count, ...flowTools(FLOWS[name] ?? [])],
    handOffs: new Set(handOffs(name)),
    guardrails: null,
    conditions: null,
    flows: FLOWS[name] ?? [],
    failedServers: [],
  });
  const scope: RunScope = {
    runId: 'run_1',
    attempt: number,
    propagatesTrace: false,
    team: {
      has: () => true,
      agent: async (name) => getAgent(name),
      member: async () => null,
      exchanges: async () => [],
      rememberedTools: async () => new Set<string>(),
    },
    finished,
    continuation: null,
    recorded: null,
    state: emptyRunState(),
    gate: new StepGate(
      { signal: controller.signal, stopsAfterStep: () => false, stepDone: () => controller.signal.throwIfAborted() },
      finished,
    ),
    limits: { steps: 50, depth: 5, handOffs: 10, toolOutputCharacters: 40_000 },
    userContext: undefined,
    progress,
    room: { isFull: false, onceRoom: () => {} },
    signal: controller.signal,
    mayCall: () => null,
    images: NO_IMAGES,
    unfinished: { cut: () => {}, wait: () => {} },
    modelStep: (input) => modelStep(scope, input),
    emit: (_event: RunEventBody) => {},
    publish: async () => null,
    async journal(step) {
      controller.signal.throwIfAborted();
      const begun = progress.steps;
      await new Promise(setImmediate);
      controller.signal.throwIfAborted();
      outside.journal.push(step);
      outside.begun = begun;
      if (outside.journal.length === diesAfter) controller.abort(new ProcessEnd());
      controller.signal.throwIfAborted();
    },
  };
  const user = { kind: 'user' as const, text: 'Check.' };
  const last = await runLoop(scope, {
    loop: '',
    callerAgent: null,
    depth: 0,
    agent: getAgent('Triage'),
    addedInstructions: '',
    prompt: [user],
    earlierItems: 0,
    resultCheck: null,
    trace: null,
  });
  return (last?.output ?? []).map((item) => (item.kind === 'message' ? item.text : '')).join('');
}

test('a run with several loops that dies after any step continues with the same steps', async () => {
  const whole = new Outside();
  assert.equal(await attempt(whole, 1, -1), 'Both agree.');
  const places = (steps: readonly Step[]) =>
    steps.map(({ loop, indexInLoop, callId }) => `${loop} ${indexInLoop} ${callId ?? ''}`).toSorted();
  assert.ok(whole.journal.length >= 14, `${whole.journal.length} steps`);
  for (let diesAfter = 1; diesAfter <= whole.journal.length; diesAfter += 1) {
    const outside = new Outside();
    await assert.rejects(attempt(outside, 1, diesAfter), ProcessEnd);
    const journalled = outside.journal.length;
    assert.equal(journalled, diesAfter);
    const { modelCalls: before, begun } = outside;
    assert.equal(await attempt(outside, 2, -1), 'Both agree.');
    const text = `after step ${diesAfter}`;
    assert.deepEqual(places(outside.journal), places(whole.journal), text);
    assert.equal(new Set(outside.journal.map(({ step }) => step)).size, outside.journal.length, 'no number twice');
    const finished = outside.journal.slice(0, journalled).filter(({ kind }) => kind === 'model').length;
    assert.equal(outside.modelCalls - before, whole.modelCalls - finished, `${text}: no finished step is repeated`);
    assert.ok(
      outside.numbers.slice(before).every((number) => number > begun),
      `${text}: the number of a step that began is not assigned again`,
    );
    const callIds = outside.journal
      .slice(0, journalled)
      .flatMap(({ tool, callId }) => (tool === 'count' ? [callId] : []));
    for (const callId of callIds) assert.equal(outside.counted.filter((id) => id === callId).length, 1, text);
  }
});
