import { test } from 'node:test';
import { ERASURE_POINTS, FileServer, Rig, type ServerProcess, SHORT_LEASE, type WaitPoint } from '@runwire/test-kit';
import { LATE_FAULT_MS } from '@runwire/test-kit/faults/faults.ts';
import { count, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import { expectAtLeast, expectEqual, named, Shortfall, until, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import { AgenciesFolder } from './support/agencies-folder.ts';
import { LateWriters, LOOK_MS, WORK_AGENCY } from './support/late-writers.ts';
import { answerAbout, PlantedPerson } from './support/person.ts';

/*
 * A person with a text in every field is erased while one of its runs is open. The server is killed at a point of the
 * erasure, and another one continues. When the erasure is finished, the texts are searched for in every byte of the data
 * folder and in every row. Then persons are erased while bytes of theirs are written that no row refers to yet.
 */

/** The points of the run that the erasure cancels. */
const RUN_POINTS: readonly WaitPoint[] = [
  'cancel-intent.before',
  'cancel.before-commit',
  'cancel.after-commit',
  'end.before-commit',
  'end.after-commit',
];
const SHORT_POINTS: readonly WaitPoint[] = ['erasure.after-commit', 'erasure-bytes.after', 'erasure-scrub.before'];
const ERASED_MS = 2 * WAIT_MS;
/** Each erasure rewrites the database. An upload that is held is not cut. */
const LIMITS = { ...SHORT_LEASE, eraseRewriteMs: 0, uploadIdleMs: 10 * WAIT_MS };

interface Stage {
  readonly rig: Rig;
  readonly files: FileServer;
  readonly fault: string | null;
  /** Persons so far. */
  count: number;
}

interface Kill {
  readonly point: WaitPoint;
  /** The server dies when it reaches the point for this time. */
  readonly time: number;
}

/** The server that continues after a kill. On PostgreSQL it runs all the time. */
async function survivor({ rig, fault }: Stage): Promise<ServerProcess> {
  const alive = rig.servers.at(-1);
  return alive ?? (await rig.add({ fault }));
}

/** Resolves to false if the erasure did not reach the point so often. */
async function erase(stage: Stage, kill: Kill | null): Promise<boolean> {
  const { rig, files } = stage;
  stage.count += 1;
  const person = new PlantedPerson(rig, files, stage.count);
  const before = await survivor(stage);
  await person.live(before);
  expectAtLeast('places of planted texts before the erasure', (await person.places()).length, 10);
  const usage = await person.usage(before);
  let eraser = before;
  if (kill !== null) {
    if (rig.isEmbedded) await end(rig, before);
    eraser = await rig.add({ killAt: kill.point, killAfter: kill.time, fault: stage.fault });
    // The survivor stays last: it is the one to ask.
    if (!rig.isEmbedded) rig.servers.reverse();
  }
  await person.begin(eraser);
  const status = await person.erase(eraser);
  const isKilled = kill !== null && (await diedOrErased(person, eraser));
  if (kill !== null) await end(rig, eraser);
  const server = await survivor(stage);
  if (status === 0) await until('a second request', async () => [202, 404].includes(await person.erase(server)));
  else expectEqual('status of the erasure', status, 202);
  await until('end of the erasure', () => person.isErased(server), { limitMs: ERASED_MS, pauseMs: 100 });
  const places = await person.places();
  if (places.length > 0) {
    throw new Shortfall(
      `places of planted texts: expected 0, found ${places.length} (${places.slice(0, 5).join('; ')}).`,
    );
  }
  const after = await person.usage(server);
  for (const [runId, record] of Object.entries(usage)) expectEqual('usage of a run', after[runId], record);
  expectEqual('runs', Object.keys(after).length, Object.keys(usage).length + 1);
  await person.checkSums();
  return isKilled;
}

/** Resolves to true if the server died. */
async function diedOrErased(person: PlantedPerson, server: ServerProcess): Promise<boolean> {
  let isDead = false;
  void server.gone.then(() => {
    isDead = true;
  });
  const isOver = async () => isDead || (await person.isErased(server));
  await within('death or end', ERASED_MS, until('death or end', isOver, { limitMs: ERASED_MS, pauseMs: 50 }));
  return isDead;
}

async function end(rig: Rig, server: ServerProcess): Promise<void> {
  await server.kill();
  rig.servers.splice(rig.servers.indexOf(server), 1);
}

/** Kills at every time that the erasure reaches each point. Resolves to the number of kills. */
async function killEverywhere(stage: Stage, points: readonly WaitPoint[], stride: number): Promise<number> {
  let kills = 0;
  for (const point of points) {
    for (let time = 1; ; time += stride) {
      const label = `${stage.rig.isEmbedded ? 'embedded' : 'PostgreSQL'}, killed at ${point} ${time}`;
      const isKilled = await named(label, erase(stage, { point, time }));
      if (!isKilled) break;
      kills += 1;
      process.stdout.write(`${label}\n`);
      // The other points are reached once.
      if (!point.startsWith('erasure.')) break;
    }
  }
  return kills;
}

/** The part's faults with late writers. */
const LATE_FAULTS = ['forget-pending', 'any-form', 'sign-anyway', 'keep-refused'];

/** Erases persons whose bytes are still being written, on one server or on three. Resolves to the number of refused images. */
async function eraseWriting(nodes: number | null, fault: string | null, count: number): Promise<number> {
  using agencies = new AgenciesFolder({ 'work/agency.yaml': WORK_AGENCY });
  await using files = await FileServer.start();
  const env = { ...files.env, RUNWIRE_AGENCIES_DIR: agencies.path, RUNWIRE_SANDBOX: 'just-bash' };
  const planted = fault ?? 'slow-signing';
  // On a busy machine an erasure takes longer.
  const lookMs = fault === null ? LOOK_MS : LATE_FAULT_MS;
  await using rig = await Rig.start({ nodes, env, limits: LIMITS, fault: planted });
  rig.model.onCall = answerAbout;
  let refused = 0;
  for (let number = 1; number <= count; number += 1) {
    const label = `${nodes === null ? 'embedded' : `${nodes} nodes`}, late writers ${number}`;
    refused += (await named(label, new LateWriters(rig, files, 1000 + number).erase(lookMs))).refusedImages;
    process.stdout.write(`${label}\n`);
  }
  return refused;
}

test('after an erasure no text of the person is left', async () => {
  const fault = plantedFault();
  let kills = 0;
  let persons = 0;
  let refusedImages = 0;
  const isLate = fault !== null && LATE_FAULTS.includes(fault);
  for (const nodes of isLate ? [] : [null, 1]) {
    await using files = await FileServer.start();
    await using rig = await Rig.open({ nodes, env: files.env, limits: LIMITS });
    rig.model.onCall = answerAbout;
    const stage: Stage = { rig, files, fault, count: 0 };
    await named(nodes === null ? 'embedded' : 'PostgreSQL', erase(stage, null));
    if (fault === null) {
      const points = scale(SHORT_POINTS, [...ERASURE_POINTS, ...RUN_POINTS]);
      kills += await killEverywhere(stage, points, scale(4, 1));
    }
    persons += stage.count;
  }
  const late = fault === null || isLate ? scale(1, 10) : 0;
  for (const nodes of late > 0 ? [null, 3] : []) refusedImages += await eraseWriting(nodes, fault, late);
  count({
    persons: persons + 2 * late,
    kills: expectAtLeast('kills', kills, fault === null ? scale(6, 30) : 0),
    refusedImages,
    places: 0,
  });
});
