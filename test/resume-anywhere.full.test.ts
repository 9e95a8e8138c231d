import { test } from 'node:test';
import { Rig } from '@runwire/test-kit';
import { count, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import { addTo, expectAtLeast, expectEqual, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import { inLanes } from './support/lanes.ts';
import { answerAll, checkContinued, EVERY_FRAME, FRAMES, playUntil } from './support/three-step-run.ts';

/*
 * A server is killed as soon as its run's client has seen event 1, event 2, and so on. The next start continues the
 * run. Model and tools are served, and their calls counted, in this process, which survives the server.
 */

/** Events at which one call of a tool is open, two are open, and the model is in the middle of a word. */
const SHORT = [22, 27, 2, 6, 21, 42];
const NEVER_MS = 3_600_000;

async function killAndResume(fault: string | null, index: number) {
  // Kills alternate between tools that may be repeated and tools that may not, and between what is stored.
  const tool = index % 2 === 0 ? 'gate_again' : 'gate';
  const onlySteps = index % 4 < 2;
  await using rig = await Rig.open({ limits: onlySteps ? { flushMs: NEVER_MS } : {} });
  const doomed = await rig.add();
  await rig.prepare({ apiIntegrationId: 'resume', agency: 'gate' });
  const played = await playUntil(rig, 'c1', index, { tool });
  await doomed.kill();
  await within('end of the cut stream', WAIT_MS, played.reader.over);
  answerAll(rig, tool, () => 'c1');
  const server = await rig.add({ fault });
  const { frames } = await rig.follow(played.reader, { servers: () => [server] });
  const { run, void_frames, exact_usage } = await checkContinued(rig, played, { api: server.api, frames, onlySteps });
  // The last frames arrive with the run's end, or a little before it.
  if (index < FRAMES - 6) expectEqual('attempts', run.attempt, 2);
  return { void_frames, exact_usage };
}

test('a run that is killed at any event is completed, and repeats nothing', async () => {
  const fault = plantedFault();
  const indexes = scale(SHORT, EVERY_FRAME);
  const sum = { repeated: 0, void_frames: 0, exact_usage: 0 };
  const kills = indexes.map((index) => [`kill at event ${index}`, index] as const);
  // Two processes keep two cores busy.
  await inLanes(2, kills, async (index) => addTo(sum, await killAndResume(fault, index)));
  expectAtLeast('void frames', sum.void_frames, 1);
  expectAtLeast('runs with exact usage', sum.exact_usage, indexes.length / 2);
  count({ kills: indexes.length, completed: indexes.length, ...sum });
});
