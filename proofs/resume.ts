import { withoutComments } from '@runwire/test-kit';
import { inLanes } from './support/lanes.ts';
import { expectAtLeast, expectEqual, expectNumber, type Proof, within } from './support/proof.ts';
import { answer, type Body, checkReader, checkTools, checkUsage, repeatedCalls, STEPS } from './support/resumed-run.ts';
import { Rig } from './support/rig.ts';
import { FRAMES, playUntil, WAIT_MS } from './support/three-step-run.ts';

/*
 * A server is killed as soon as the client of its run has seen event 1, event 2, and so on. The next start continues the
 * run. Model and tools are served, and their calls counted, in this process, which survives the server.
 */

const INTEGRATION = 'resume';
const PATH = `/v2/integrations/${INTEGRATION}`;
/** Events at which one call of a tool is open, two are open, and the model is in the middle of a word. */
const SHORT = [22, 27, 2, 6, 21, 42];
const NEVER_MS = 3_600_000;

const figures = { repeated: 0, void_frames: 0, exact_usage: 0 };

async function killAndResume(fault: string | null, index: number): Promise<void> {
  // Kills alternate between tools that may be repeated and tools that may not, and between what is stored.
  const tool = index % 2 === 0 ? 'gate_again' : 'gate';
  const onlySteps = index % 4 < 2;
  await using rig = await Rig.open({ limits: onlySteps ? { flushMs: NEVER_MS } : {} });
  const { model, gate } = rig;
  const doomed = await rig.add();
  await rig.prepare({ apiIntegrationId: INTEGRATION, agency: 'gate' });
  const run = await playUntil({ api: doomed.api, model, gate, integration: INTEGRATION, tool }, 'c1', index);
  await doomed.kill();
  await within('end of the cut stream', WAIT_MS, run.reader.over);
  model.onCall = (call) => void answer(call, 'c1', tool, gate.port);
  gate.onCall = ({ callId }) => gate.open(callId, `anew ${callId}`);
  const { api } = await rig.add({ fault });
  const seen = run.reader.frames;
  const rest = await within('head of the stream', WAIT_MS, api.events(run.runId, seen.at(-1)?.id ?? 0, INTEGRATION));
  if (rest.status !== 204) await within('end of the stream', WAIT_MS, rest.over);

  const steps: Body[] = (await api.get(`${PATH}/runs/${run.runId}/steps`)).body.items;
  figures.repeated += expectNumber('calls of finished steps repeated', repeatedCalls(run.runId, steps, model, gate), 0);
  const { body: ended } = await api.get(`${PATH}/runs/${run.runId}`);
  expectEqual('end of the run', [ended.status, ended.error], ['completed', null]);
  // The last frames arrive with the end of the run, or a little before it.
  if (index < FRAMES - 6) expectNumber('attempts', ended.attempt, 2);
  expectEqual('steps', steps.map(({ step, kind }) => `${step} ${kind}`).toReversed(), STEPS);
  checkTools(gate, 'c1', tool);
  const replay = await api.events(run.runId, null, INTEGRATION);
  await within('end of the replay', WAIT_MS, replay.over);
  figures.void_frames += checkReader(seen, rest.frames, replay.frames);
  expectEqual('text of the deltas', replay.answer, ended.message);
  expectEqual('`end` of the replay', withoutComments(replay.text).endsWith('event: end\ndata: [DONE]\n\n'), true);
  const { body: usage } = await api.get(`${PATH}/usage`);
  expectEqual(
    'usage records',
    usage.items.map((record: Body) => record.usage),
    [ended.usage],
  );
  if (checkUsage(ended, steps, model, onlySteps)) figures.exact_usage += 1;
}

export const proof: Proof = {
  name: 'resume',
  minutes: 4,
  faults: { 'forget-journal': /^kill at event \d+: calls of finished steps repeated: expected 0, found \d+\.$/m },
  async run({ fault, scale }) {
    const indexes = scale(SHORT, [...Array(FRAMES).keys()].map((place) => place + 1)); // biome-ignore format: short
    // Two processes keep two cores busy.
    const kills = indexes.map((index) => [`kill at event ${index}`, index] as const);
    await inLanes(2, kills, (index) => killAndResume(fault, index));
    expectAtLeast('void frames', figures.void_frames, 1);
    expectAtLeast('runs with exact usage', figures.exact_usage, indexes.length / 2);
    return { kills: indexes.length, completed: indexes.length, ...figures };
  },
};
