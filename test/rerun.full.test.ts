import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Frame, Rig, SHORT_LEASE, type StreamReader } from '@runwire/test-kit';
import { count, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import { expectAtLeast, expectEqual, named, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import { inLanes } from './support/lanes.ts';
import { KINDS } from './support/rerun-plans.ts';
import {
  findKept,
  INTEGRATION,
  listPoints,
  MEMBER,
  type Original,
  RerunStage,
  type Result,
  toMessages,
  toResult,
} from './support/rerun-stage.ts';
import { type Body, listAll, whole } from './support/story.ts';

/*
 * All kinds of runs are recorded, and each is run again from each step with the same model. A rerun has the answer of the
 * run and asks the models the same, but nothing for kept steps. No tool is called, no file changed and no member charged, and the
 * chats stay as they were. Then servers are killed at every event, alone and on three nodes: the same.
 */

const LANES = 4;
const NAMES = Object.keys(KINDS);
const RUNS = scale(NAMES.length, 200);
/** Models whose agents show their text only at the end cause no event. */
const EVENT_MS = 50;

/** What all reruns must have. */
interface Reference {
  readonly original: Original;
  readonly result: Result;
  /** What the models were sent in the rerun that keeps nothing. */
  readonly sent: readonly string[];
  readonly frames: number;
}

/** What must not change while runs are run again. */
interface Before {
  readonly calls: number;
  readonly used: number;
  readonly files: string;
  readonly chats: ReadonlyMap<string, string>;
}

interface Scene {
  readonly rig: Rig;
  readonly stage: RerunStage;
  /** Each plan's runs. */
  readonly recorded: readonly (readonly Original[])[];
  readonly before: Before;
}

async function readUsed(rig: Rig): Promise<number> {
  const { allowance } = (await rig.api().get(`${rig.path}/members/${MEMBER}`)).body;
  return allowance.used + allowance.reserved;
}

async function readFiles(rig: Rig): Promise<string> {
  const { body } = await rig.api().get(`${rig.path}/files?folder=/app/mnt/u&limit=200`);
  return JSON.stringify(body.items);
}

/** Everything that a caller can read about a chat and its runs. */
async function readChat(rig: Rig, label: string): Promise<string> {
  const chat = `${rig.path}/chats/${label}`;
  const { body } = await rig.api().get(chat);
  const runs = await listAll(rig.api(), `${rig.path}/runs?chatId=${label}`);
  const steps = await Promise.all(runs.map(({ runId }) => listAll(rig.api(), `${rig.path}/runs/${runId}/steps`)));
  return JSON.stringify([body, await listAll(rig.api(), `${chat}/messages`), runs, steps]);
}

async function record(rig: Rig, stage: RerunStage, runs: number): Promise<Scene> {
  await stage.play(rig);
  const recorded: (readonly Original[])[] = [];
  const plans = Array.from({ length: runs }, (_, index) => {
    const name = NAMES[index % NAMES.length] as string;
    return [
      name,
      { label: `r${index}`, plan: (KINDS[name] as (typeof KINDS)[string])(Math.floor(index / NAMES.length)) },
    ] as const;
  });
  await inLanes(LANES, plans, async ({ label, plan }) => {
    const originals = await stage.record(rig, label, plan);
    const sent = originals.flatMap(({ runId }) => stage.sentTo(runId)).join('\n');
    if (plan.shows !== undefined && !plan.shows.test(sent)) throw new Error(`No model of ${label} saw ${plan.shows}.`);
    recorded.push(originals);
  });
  const chats = new Map<string, string>();
  for (const [{ label } = { label: '' }] of recorded) chats.set(label, await readChat(rig, label));
  const before = { calls: rig.gate.calls.length, used: await readUsed(rig), files: await readFiles(rig), chats };
  expectAtLeast('files that the runs changed', JSON.parse(before.files).length, 1);
  return { rig, stage, recorded, before };
}

/** The runs that are run again, each with its name in messages. */
const listOriginals = ({ recorded }: Scene) =>
  recorded.flat().map((original, index) => [`${original.label} (${index})`, original] as const);

async function readResult(rig: Rig, frames: readonly Frame[], runId: string) {
  const frame = toMessages(frames);
  const { body: run } = await rig.api(rig.servers.length - 1).get(`${rig.path}/runs/${runId}`);
  expectEqual('files_changed', frame.files ?? [], []);
  expectEqual('charge and `rerunOf`', [run.charged ?? null, run.rerunOf?.runId !== undefined], [null, true]);
  return { run, result: toResult(run, frame) };
}

function checkCalls({ rig, before }: Scene): void {
  expectEqual('tool_calls', rig.gate.calls.length - before.calls, 0);
}

/** Runs a run again as a whole. Except for a cancelled one, it must be the same. */
async function checkWhole(scene: Scene, original: Original): Promise<Reference> {
  const { rig, stage } = scene;
  const reader = await whole(rig.api().rerun(INTEGRATION, original.runId));
  const runId = String(reader.headers['x-run-id']);
  checkCalls(scene);
  const { result } = await readResult(rig, reader.frames, runId);
  const sent = stage.sentTo(runId);
  // The summary of the turns before the run is kept.
  const kept = new Set([...findKept(original, 0)].map((step) => original.sent.get(step)));
  const ofOriginal = stage.sentTo(original.runId).filter((text) => !kept.has(text));
  if (original.plan.end === 'cancelled') {
    const missing = ofOriginal.filter((text) => !sent.includes(text));
    expectEqual('prompts of the cancelled run that its rerun has not', missing, []);
  } else {
    expectEqual('result', result, original.result);
    expectEqual('prompts', sent, ofOriginal);
  }
  expectEqual('model calls', stage.countCalls(runId), sent.length);
  return { original, result, sent, frames: reader.frames.length };
}

/** Compares a rerun with the rerun that keeps nothing. */
async function check(
  { rig, stage }: Scene,
  { original, result, sent }: Reference,
  { afterStep, runId, frames }: { afterStep: number; runId: string; frames: readonly Frame[] },
): Promise<Body> {
  const kept = findKept(original, afterStep);
  const ofKept = new Set([...original.sent].flatMap(([step, text]) => (kept.has(step) ? [text] : [])));
  const expected = sent.filter((text) => !ofKept.has(text));
  expectEqual('prompts', stage.sentTo(runId), expected);
  const found = await readResult(rig, frames, runId);
  expectEqual('result', found.result, result);
  return found.run;
}

/** Runs each run again from each step. */
async function everyStep(scene: Scene): Promise<number> {
  const { rig, stage } = scene;
  let reruns = 0;
  await inLanes(LANES, listOriginals(scene), async (original) => {
    const reference = await checkWhole(scene, original);
    reruns += 1;
    for (const afterStep of listPoints(original).slice(1)) {
      const reader = await whole(rig.api().rerun(INTEGRATION, original.runId, { afterStep }));
      const runId = String(reader.headers['x-run-id']);
      checkCalls(scene);
      const run = await named(
        `after step ${afterStep}`,
        check(scene, reference, { afterStep, runId, frames: reader.frames }),
      );
      expectEqual('model calls', stage.countCalls(runId), stage.sentTo(runId).length);
      expectEqual('rerunOf', run.rerunOf, { runId: original.runId, afterStep });
      reruns += 1;
    }
  });
  return reruns;
}

async function checkUnchanged({ rig, before }: Scene): Promise<void> {
  checkCalls({ rig, before } as Scene);
  expectEqual('files_changed', await readFiles(rig), before.files);
  expectEqual('charged_members', (await readUsed(rig)) - before.used, 0);
  const ofReruns = (await listAll(rig.api(), `${rig.path}/usage?rerun=true`)).filter(({ charged }) => charged !== null);
  expectEqual('charged_members', ofReruns.length, 0);
  for (const [label, text] of before.chats) expectEqual(`chat of ${label}`, await readChat(rig, label), text);
}

/** A rerun whose models are silent from an event on. */
interface RerunAtEvent {
  readonly reference: Reference;
  readonly afterStep: number;
  readonly event: number;
  readonly reader: StreamReader;
}

async function hold({ rig, stage }: Scene, reference: Reference, event: number): Promise<RerunAtEvent> {
  const { original } = reference;
  const points = listPoints(original);
  const afterStep = points[event % points.length] ?? 0;
  const reader = await rig.api().rerun(INTEGRATION, original.runId, { afterStep });
  let seen = 0;
  stage.brake(String(reader.headers['x-run-id'])).resolve(async () => {
    const isSeen = reader.until(({ frames }) => frames.length > seen || frames.length >= event);
    await Promise.race([isSeen, sleep(EVENT_MS)]);
    seen = reader.frames.length;
    return seen < event;
  });
  return { reference, afterStep, event, reader };
}

/** Kills the server while reruns of these runs have reached all these events. Resolves to how many were taken over. */
async function killAt(scene: Scene, originals: readonly Original[], stride: number): Promise<number> {
  const { rig, stage } = scene;
  const references: Reference[] = [];
  for (const original of originals) references.push(await checkWhole(scene, original));
  stage.isBraking = true;
  const held: RerunAtEvent[] = [];
  for (const [index, reference] of references.entries())
    for (let event = 1 + (index % stride); event < reference.frames; event += stride)
      held.push(await hold(scene, reference, event));
  // A rerun that keeps steps may end before.
  const reached = held.map(({ reader, event }) => reader.until(({ frames }) => frames.length >= event).catch(() => {}));
  await within('the events at which the server is killed', WAIT_MS, Promise.all(reached));
  await rig.server().kill();
  await Promise.all(held.map(({ reader }) => within('end of a cut stream', WAIT_MS, reader.over)));
  rig.servers.shift();
  stage.isBraking = false;
  if (rig.isEmbedded) await rig.add();
  let takenOver = 0;
  for (const { reference, afterStep, event, reader } of held) {
    const { frames, runId } = await rig.follow(reader);
    const read = { afterStep, runId, frames };
    const label = `${reference.original.label} after step ${afterStep}, killed at event ${event}`;
    const run = await named(label, check(scene, reference, read));
    if (run.attempt > 1) takenOver += 1;
  }
  await checkUnchanged(scene);
  return takenOver;
}

/** A run for each kind; the last run in a chain. */
const pickEachKind = ({ recorded }: Scene): Original[] =>
  recorded.filter((_, index) => index < NAMES.length).flatMap((parts) => parts.at(-1) ?? []);

async function embedded(fault: string | null) {
  await using stage = await RerunStage.open();
  await using rig = await Rig.start({ fault, env: stage.env });
  const scene = await record(rig, stage, RUNS);
  const reruns = await everyStep(scene);
  await checkUnchanged(scene);
  let takenOver = 0;
  if (fault === null) {
    const originals = pickEachKind(scene);
    const groups = scale(
      [originals],
      originals.map((original) => [original]),
    );
    for (const group of groups) takenOver += await killAt(scene, group, scale(19, 1));
  }
  return { runs: scene.recorded.length, reruns, killed: takenOver };
}

async function onNodes(): Promise<number> {
  await using stage = await RerunStage.open();
  await using rig = await Rig.start({ nodes: 3, limits: SHORT_LEASE, env: stage.env });
  const scene = await record(rig, stage, NAMES.length);
  return await killAt(scene, pickEachKind(scene), scale(23, 4));
}

test('a rerun with recorded tools has the prompts and the answer of its run', async () => {
  const fault = plantedFault();
  const figures = await named('embedded', embedded(fault));
  if (fault !== null) return;
  const killedNodes = await named('nodes', onNodes());
  expectAtLeast('reruns that were resumed', figures.killed, 1);
  expectAtLeast('reruns that were taken over', killedNodes, 1);
  count({ ...figures, taken_over: killedNodes, tool_calls: 0, files_changed: 0, charged_members: 0, chats_changed: 0 });
});
