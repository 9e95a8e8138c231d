import { GateKeeper, ModelController, withoutComments } from '@runwire/test-kit';
import { DataFolder } from './support/data-folder.ts';
import { expectAtLeast, expectEqual, expectNumber, type Proof, Shortfall, within } from './support/proof.ts';
import { answer, type Body, checkReader, checkTools, checkUsage, repeatedCalls, STEPS } from './support/resumed-run.ts';
import { startServer } from './support/start-server.ts';
import { FRAMES, type PlayedRun, playUntil, type Stage, WAIT_MS } from './support/three-step-run.ts';

/*
 * A run of three answers of the model with three calls of tools dies by SIGKILL as soon as its client has seen event 1,
 * event 2, and so on. The next start goes on with it. Model and tools are served, and their calls counted, in this
 * process, which outlives the server's.
 */

const INTEGRATION = 'resume';
const PATH = `/v2/integrations/${INTEGRATION}`;
/** At once: two processes keep two cores busy. */
const LANES = 2;
/** Among them places where one call is open, where two are, and where the model is in the middle of a word. */
const SHORT = [22, 27, 2, 6, 21, 42];
const NEVER_MS = 3_600_000;
/** Kills alternate: between tools that may be repeated and tools that may not, and between what reached the disk. */
function settingOf(index: number) {
  const tool = index % 2 === 0 ? ('gate_again' as const) : ('gate' as const);
  // Where nothing but finished steps is stored, the sum of what was used is known to the token.
  const onlySteps = index % 4 < 2;
  return { tool, onlySteps, limits: onlySteps ? { flushMs: NEVER_MS } : {} };
}

interface Counts {
  readonly repeated: number;
  readonly voidFrames: number;
  readonly exact: number;
}

async function killAndResume(fault: string | null, index: number): Promise<Counts> {
  using folder = new DataFolder();
  await using model = await ModelController.start();
  await using gate = await GateKeeper.start();
  const { tool, onlySteps, limits } = settingOf(index);
  const options = { dataDir: folder.path, controllerPort: model.port, limits };
  let run: PlayedRun;
  {
    await using doomed = await startServer(null, options);
    const stage: Stage = { api: doomed.api, model, gate, integration: INTEGRATION, tool };
    const body = { apiIntegrationId: INTEGRATION, name: 'Resume', agency: 'gate' };
    expectNumber('status of the integration', (await doomed.api.post('/v2/integrations', body)).status, 201);
    run = await playUntil(stage, 'c1', index);
    await doomed.kill();
    await within('end of the cut stream', WAIT_MS, run.reader.over);
  }
  model.onCall = (call) => void answer(call, 'c1', tool, gate.port);
  gate.onCall = ({ callId }) => gate.open(callId, `anew ${callId}`);
  await using server = await startServer(fault, options);
  const { api } = server;
  const seen = run.reader.frames;
  const rest = await within('head of the stream', WAIT_MS, api.events(run.runId, seen.at(-1)?.id ?? 0, INTEGRATION));
  if (rest.status !== 204) await within('end of the stream', WAIT_MS, rest.over);

  const steps: Body[] = (await api.get(`${PATH}/runs/${run.runId}/steps`)).body.items;
  const repeated = expectNumber('calls of finished steps repeated', repeatedCalls(run.runId, steps, model, gate), 0);
  const { body: ended } = await api.get(`${PATH}/runs/${run.runId}`);
  expectEqual('end of the run', [ended.status, ended.error], ['completed', null]);
  // The last frames come with the end of the run, or a little before it.
  if (index < FRAMES - 6) expectNumber('attempts', ended.attempt, 2);
  expectEqual('steps', steps.map(({ step, kind }) => `${step} ${kind}`).toReversed(), STEPS);
  checkTools(gate, 'c1', tool);

  const replay = await api.events(run.runId, null, INTEGRATION);
  await within('end of the replay', WAIT_MS, replay.over);
  const voidFrames = checkReader(seen, rest.frames, replay.frames);
  expectEqual('text of the deltas', replay.answer, ended.message);
  expectEqual('`end` of the replay', withoutComments(replay.text).endsWith('event: end\ndata: [DONE]\n\n'), true);
  await checkRecord(api, ended);
  return { repeated, voidFrames, exact: checkUsage(ended, steps, model, onlySteps) ? 1 : 0 };
}

async function checkRecord(api: Stage['api'], run: Body): Promise<void> {
  const { body } = await api.get(`${PATH}/usage`);
  expectNumber('usage records', body.items.length, 1);
  expectEqual('usage of run and record', run.usage, body.items[0].usage);
}

async function all(fault: string | null, indexes: readonly number[]): Promise<Counts> {
  const queue = [...indexes];
  const sum = { repeated: 0, voidFrames: 0, exact: 0 };
  let failed = false;
  const lane = async () => {
    for (let index = queue.shift(); index !== undefined && !failed; index = queue.shift()) {
      try {
        const counts = await killAndResume(fault, index);
        for (const key of ['repeated', 'voidFrames', 'exact'] as const) sum[key] += counts[key];
      } catch (error) {
        failed = true;
        throw error instanceof Shortfall ? new Shortfall(`kill at event ${index}: ${error.message}`) : error;
      }
    }
  };
  // All lanes come to rest before the first shortfall is told, so that no process is left behind.
  const lanes = await Promise.allSettled(Array.from({ length: LANES }, lane));
  for (const outcome of lanes) if (outcome.status === 'rejected') throw outcome.reason;
  return sum;
}

export const proof: Proof = {
  name: 'resume',
  minutes: 4,
  faults: {
    'forget-journal': /^kill at event \d+: calls of finished steps repeated: expected 0, found \d+\.$/m,
  },
  async run({ fault, scale }) {
    const short = scale(true, false);
    const indexes = short ? SHORT : Array.from({ length: FRAMES }, (_, place) => place + 1);
    const { repeated, voidFrames, exact } = await all(fault, indexes);
    expectAtLeast('void frames', voidFrames, 1);
    return { kills: indexes.length, completed: indexes.length, repeated, void_frames: voidFrames, exact_usage: exact };
  },
};
