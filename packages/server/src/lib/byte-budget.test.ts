import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { ByteBudget, type Reservation } from './byte-budget.ts';

const never = new AbortController().signal;

/** Who was granted what so far, in order. */
function asking(budget: ByteBudget) {
  const granted: string[] = [];
  const reservations = new Map<string, Reservation>();
  const ask = (name: string, whose: string, bytes: number, signal = never) =>
    budget.reserve(whose, bytes, signal).then((reservation) => {
      granted.push(name);
      reservations.set(name, reservation);
    });
  const release = async (name: string) => {
    reservations.get(name)?.[Symbol.dispose]();
    await turn();
  };
  return { granted, reservations, ask, release };
}

test('shares out what there is in the order of asking, and nobody overtakes one who waits for room', async () => {
  const budget = new ByteBudget(100);
  const { granted, ask, release } = asking(budget);
  for (const [name, whose, bytes] of [
    ['a', 'A', 50],
    ['b', 'B', 40],
    ['c', 'C', 20],
    ['d', 'D', 5],
  ] as const) {
    void ask(name, whose, bytes);
  }
  await turn();
  assert.deepEqual(granted, ['a', 'b'], 'd would fit, and c came before it');
  await release('b');
  assert.deepEqual(granted, ['a', 'b', 'c', 'd']);
  assert.equal(budget.heldBytes, 75);
});

test('nobody has more than half, and who has it does not hold up the others', async () => {
  const budget = new ByteBudget(100);
  const { granted, ask, release } = asking(budget);
  void ask('a1', 'A', 30);
  void ask('a2', 'A', 30);
  void ask('a3', 'A', 10);
  void ask('b', 'B', 50);
  await turn();
  assert.deepEqual(granted, ['a1', 'b'], 'a3 would fit, and a2 of the same came before it');
  await release('a1');
  assert.deepEqual(granted, ['a1', 'b', 'a2', 'a3']);
});

test('what turns out smaller makes room for others at once, and is given back once', async () => {
  const budget = new ByteBudget(100);
  const { granted, reservations, ask, release } = asking(budget);
  void ask('a', 'A', 50);
  void ask('b', 'B', 50);
  void ask('c', 'C', 50);
  await turn();
  assert.deepEqual(granted, ['a', 'b']);
  reservations.get('a')?.shrinkTo(7);
  reservations.get('a')?.shrinkTo(40);
  reservations.get('b')?.shrinkTo(3);
  await turn();
  assert.deepEqual([granted, budget.heldBytes], [['a', 'b', 'c'], 60]);
  for (const name of ['a', 'a', 'b', 'c']) await release(name);
  assert.equal(budget.heldBytes, 0);
});

test('one that is larger than a share is given a share, so that it is not left waiting for ever', async () => {
  const budget = new ByteBudget(100);
  using reservation = await budget.reserve('A', 1000, never);
  assert.equal(budget.heldBytes, 50);
  reservation.shrinkTo(80);
  assert.equal(budget.heldBytes, 50);
});

test('who stops waiting leaves the line, and those behind it go on', async () => {
  const budget = new ByteBudget(100);
  const { granted, ask } = asking(budget);
  const stop = new AbortController();
  await ask('a', 'A', 50);
  await ask('b', 'B', 30);
  const waits = ask('c', 'C', 40, stop.signal);
  void ask('d', 'D', 20);
  await turn();
  assert.deepEqual([granted, budget.waiting], [['a', 'b'], 2]);
  stop.abort(new Error('cancelled'));
  await assert.rejects(waits, /cancelled/);
  await turn();
  assert.deepEqual([granted, budget.waiting, budget.heldBytes], [['a', 'b', 'd'], 0, 100]);
  await assert.rejects(ask('e', 'E', 1, stop.signal), /cancelled/);
});
