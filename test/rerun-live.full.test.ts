import { test } from 'node:test';
import { Rig, type StreamReader } from '@runwire/test-kit';
import { count, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import { addTo, expectAtMost, expectEqual, named } from '@runwire/test-kit/shortfall.ts';
import { KINDS, type Plan } from './support/rerun-plans.ts';
import {
  findKept,
  INTEGRATION,
  listPoints,
  MEMBER,
  type Original,
  OTHER_MODEL,
  RerunStage,
} from './support/rerun-stage.ts';
import { type Body, isFinished, whole } from './support/story.ts';

/* Runs are run again from each step with live tools and another model: the calls after the step are made, each once. */

const VARIANTS = scale([1], [0, 1, 2, 3]);

interface Sums extends Record<string, number> {
  runs: number;
  reruns: number;
  tool_calls: number;
}

async function rerunFrom(rig: Rig, stage: RerunStage, original: Original, afterStep: number, sums: Sums) {
  const { gate } = rig;
  const kept = findKept(original, afterStep);
  const served = new Set(gate.calls.map(({ callId }) => callId));
  const isNew = (one: Body) => isFinished(one) && !kept.has(one.step) && served.has(one.callId);
  const expected = original.steps.filter(isNew);
  const before = [gate.calls.length, stage.provider.calls.length] as const;
  const body = { afterStep, tools: 'live', model: OTHER_MODEL };
  const reader = await whole(rig.api().rerun(INTEGRATION, original.runId, body));
  const runId = String(reader.headers['x-run-id']);
  const made = gate.calls.slice(before[0]).map(({ callId }) => callId);
  expectEqual('calls after the step', made.toSorted(), expected.map(({ callId }) => callId).toSorted());
  const steps = [...original.sent.keys()].filter((step) => !kept.has(step));
  expectEqual('calls of the other model', stage.provider.calls.length - before[1], steps.length);
  expectEqual('calls of the first model', stage.countCalls(runId), 0);
  const { body: run } = await rig.api().get(`${rig.path}/runs/${runId}`);
  expectEqual('result', [run.status, run.message], [original.result.status, original.result.message]);
  addTo(sums, { reruns: 1, tool_calls: made.length });
}

test('a rerun with live tools and another model makes the calls after its step, each once', async () => {
  const sums: Sums = { runs: 0, reruns: 0, tool_calls: 0 };
  await using stage = await RerunStage.open();
  await using rig = await Rig.start({ fault: plantedFault(), env: stage.env });
  await stage.play(rig);
  for (const [name, toPlan] of Object.entries(KINDS)) {
    for (const variant of VARIANTS) {
      const plan = toPlan(variant);
      if (plan.end !== 'completed') continue;
      for (const original of await stage.record(rig, `live${sums.runs}`, plan)) {
        for (const afterStep of listPoints(original))
          await named(`${name} after step ${afterStep}`, rerunFrom(rig, stage, original, afterStep, sums));
      }
      sums.runs += 1;
    }
  }
  count(sums);
});

const LABEL = 'long';
/** The default limit for model steps. */
const STEPS = 50;
const ROUNDS = scale(10, 60);
const MAX_RATIO = 2;

const median = (values: readonly number[]) => values.toSorted((one, other) => one - other)[values.length >> 1] ?? 0;

/** Milliseconds until a run's first text arrives. */
async function untilText(begin: () => Promise<StreamReader>): Promise<number> {
  const startedAt = performance.now();
  const reader = await begin();
  await reader.untilText('response.output_text.delta');
  const ms = performance.now() - startedAt;
  await whole(Promise.resolve(reader));
  return ms;
}

test('a rerun after 50 steps starts within 2 times the time of a plain run', async () => {
  await using stage = await RerunStage.open();
  await using rig = await Rig.start({ env: stage.env });
  await stage.play(rig);
  const turns = Array.from({ length: STEPS - 1 }, (_, n) => ({ pieces: ['I look.', { tool: 'look', given: { n } }] }));
  const plan: Plan = { agent: 'Lead', end: 'completed', scripts: { a: [...turns, { pieces: ['Done.'] }] } };
  const [original] = await stage.record(rig, LABEL, plan);
  if (original === undefined) throw new Error('There is no run.');
  expectEqual('model steps', original.run.usage.request_count, STEPS);
  const afterStep = listPoints(original).at(-1) ?? 0;
  const times = { plain: [] as number[], rerun: [] as number[] };
  for (let round = 0; round < ROUNDS; round += 1) {
    const usageRequestId = `plain${round}`;
    const message = {
      apiIntegrationId: INTEGRATION,
      consumerId: MEMBER,
      message: `${usageRequestId} a`,
      usageRequestId,
    };
    times.plain.push(await untilText(() => rig.api().complete(message)));
    times.rerun.push(await untilText(() => rig.api().rerun(INTEGRATION, original.runId, { afterStep })));
  }
  const [plain, rerun] = [median(times.plain), median(times.rerun)];
  const ratio = Math.round((100 * rerun) / plain) / 100;
  count({ plain_ms: Math.round(plain * 100) / 100, rerun_ms: Math.round(rerun * 100) / 100, ratio });
  expectAtMost('first token of a rerun, in those of a plain run', ratio, MAX_RATIO);
});
