import { test } from 'node:test';
import { Rig } from '@runwire/test-kit';
import { count, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import { expectEqual, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import { inLanes } from './support/lanes.ts';
import { PAIR_SUBJECTS, QUOTA_BYTES, Subject } from './support/pair-subjects.ts';
import { missingService } from './support/services.ts';

/*
 * Runs every two operations on one member, chat, integration, owner or file. First it runs both orders, one operation after
 * the other, each on a fresh subject. Then it sends the two concurrently, each round on a fresh subject. The outcome, both
 * answers and what is read afterwards, must equal the outcome of one of the two orders.
 */

/** Rounds of one pair that run concurrently, on subjects of their own. */
const LANES = 8;
const SHOWN = 5;

type Pair = readonly [subject: string, one: string, other: string];

/** The short form has one pair of each way in which two operations can meet. */
const SHORT_PAIRS: readonly Pair[] = [
  ['new member', 'put name', 'put inactive'],
  ['member', 'complete', 'complete elsewhere'],
  ['member', 'take', 'give back'],
  ['new chat', 'create', 'complete by both'],
  ['idle chat', 'complete', 'delete'],
  ['idle chat', 'patch title', 'patch metadata'],
  ['integration', 'patch name', 'patch text'],
  ['integration', 'complete', 'delete'],
  ['owner', 'revoke first', 'revoke second by first'],
  ['file', 'delete', 'delete folder'],
  ['quota', 'sign a', 'sign b'],
];

const ALL_PAIRS: readonly Pair[] = Object.entries(PAIR_SUBJECTS).flatMap(([subject, { operations }]) => {
  const names = Object.keys(operations);
  return names.flatMap((one, place) => names.slice(place).map((other): Pair => [subject, one, other]));
});

type Send = (one: () => Promise<unknown>, other: () => Promise<unknown>) => Promise<readonly [unknown, unknown]>;
const IN_ORDER: readonly Send[] = [
  async (one, other) => [await one(), await other()],
  async (one, other) => {
    const second = await other();
    return [await one(), second];
  },
];
const CONCURRENT: readonly Send[] = [
  (one, other) => Promise.all([one(), other()]),
  async (one, other) => {
    const second = other();
    return Promise.all([one(), second]);
  },
];

/** Fields that are not compared: times, and values that differ in every answer. */
const LEFT_OUT =
  /^(createdAt|updatedAt|startedAt|completedAt|modifiedAt|lastUsedAt|expiresAt|lastEventId|cancelRequested|apiKey|uploadFields|uploadUrl|etag)$/;
const ID = /\b(?:run|chat|msg|key|own|int|form|adj)_[0-9a-z]{26}\b/g;
const withoutIds = (item: unknown) => JSON.stringify(item).replace(ID, '');

function settled(key: string, value: unknown): unknown {
  if (LEFT_OUT.test(key)) return undefined;
  // How far an active run has come depends on time.
  if (key === 'status' && (value === 'admitted' || value === 'running')) return 'active';
  if (key !== 'items' || !Array.isArray(value)) return value;
  return value.toSorted((a, b) => (withoutIds(a) < withoutIds(b) ? -1 : 1));
}

/** An outcome as text without what differs by chance: ids are numbered in the order in which they appear. */
function outcomeText(outcome: unknown, name: string): string {
  const numbers = new Map<string, string>();
  return JSON.stringify(outcome, settled)
    .replaceAll(name, 'NAME')
    .replaceAll(name.toUpperCase(), 'UPPER')
    .replace(ID, (id) => {
      const number = numbers.get(id) ?? `${id.slice(0, id.indexOf('_'))}#${numbers.size + 1}`;
      numbers.set(id, number);
      return number;
    });
}

/** Resolves to the outcomes of concurrent rounds that are of neither order. */
async function race(
  fresh: () => Subject,
  release: (runIds: readonly string[]) => void,
  [name, one, other]: Pair,
  rounds: number,
): Promise<string[]> {
  const plan = PAIR_SUBJECTS[name];
  const [first, second] = [plan?.operations[one], plan?.operations[other]];
  if (plan === undefined || first === undefined || second === undefined) throw new Error(`${name} lacks an operation.`);
  const play = async (send: Send): Promise<string> => {
    const subject = fresh();
    await plan.prepare(subject);
    const answers = await send(
      () => subject.do(first),
      () => subject.do(second),
    );
    const outcome = outcomeText([answers, await subject.state(plan)], subject.name);
    release(subject.runs);
    return outcome;
  };
  const allowed: string[] = [];
  for (const send of IN_ORDER) allowed.push(await play(send));
  const mixed: string[] = [];
  const all = Array.from({ length: rounds }, (_, round) => [`round ${round}`, CONCURRENT[round % 2] as Send] as const);
  await inLanes(LANES, all, async (send) => {
    const found = await play(send);
    if (!allowed.includes(found))
      mixed.push(`${name}: ${one}, ${other}: found ${found}, expected ${allowed.join(' or ')}`);
  });
  return mixed;
}

test('two concurrent operations have a result as if they ran in order', async (t) => {
  const fault = plantedFault();
  const missing = await missingService('postgres');
  if (missing !== null) return t.skip(missing);
  const rounds = scale(3, 50);
  const pairs = scale(SHORT_PAIRS, ALL_PAIRS);
  const stores = { 'the embedded store': null, PostgreSQL: 1 };
  for (const [store, nodes] of Object.entries(stores)) {
    await using rig = await Rig.start({ fault, nodes, env: { RUNWIRE_MOUNT_QUOTA_BYTES: String(QUOTA_BYTES) } });
    const released = new Set<string>();
    const { model } = rig;
    model.onCall = (call) => {
      if (released.has(call.request.runId)) void call.end();
    };
    /** Ends the runs that a round has left. A run may have been cancelled before its model was called. */
    const release = (runIds: readonly string[]) => {
      for (const runId of runIds) {
        released.add(runId);
        void model.calls.findLast(({ request }) => request.runId === runId)?.end();
      }
    };
    let subjects = 0;
    const fresh = () => {
      subjects += 1;
      return new Subject(rig, `pair${subjects}x`);
    };
    const mixed: string[] = [];
    for (const pair of pairs)
      mixed.push(...(await within(pair.join(', '), WAIT_MS, race(fresh, release, pair, rounds))));
    for (const one of mixed.slice(0, SHOWN)) process.stderr.write(`${one}\n`);
    expectEqual(`mixed outcomes on ${store}`, mixed.length, 0);
    process.stdout.write(`${pairs.length} pairs on ${store}\n`);
  }
  const operations = new Set(pairs.flatMap(([subject, one, other]) => [`${subject} ${one}`, `${subject} ${other}`]))
    .size;
  count({ stores: Object.keys(stores).length, operations, pairs: pairs.length, rounds, mixed: 0 });
});
