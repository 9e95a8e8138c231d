import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { FairBudget, type Hold } from './fair-budget.ts';

const never = new AbortController().signal;
const several = () => true;
const single = () => false;

/** Records in which order requests are granted. */
function asking(budget: FairBudget) {
  const granted: string[] = [];
  const holds = new Map<string, Hold>();
  const ask = (name: string, ownerId: string, amount: number, signal = never) =>
    budget.reserve(ownerId, amount, signal).then((hold) => {
      granted.push(name);
      holds.set(name, hold);
    });
  const release = async (name: string) => {
    holds.get(name)?.[Symbol.dispose]();
    await turn();
  };
  return { granted, holds, ask, release };
}

test('a request that waits for room is not overtaken by a smaller one', async () => {
  const budget = new FairBudget(100, several);
  const { granted, ask, release } = asking(budget);
  for (const [name, ownerId, amount] of [
    ['a', 'A', 50],
    ['b', 'B', 40],
    ['c', 'C', 20],
    ['d', 'D', 5],
  ] as const) {
    void ask(name, ownerId, amount);
  }
  await turn();
  assert.deepEqual(granted, ['a', 'b'], 'd would fit, but c asked first');
  await release('b');
  assert.deepEqual(granted, ['a', 'b', 'c', 'd']);
  assert.equal(budget.held, 75);
});

test('with several owners each holds at most half and waits alone', async () => {
  const budget = new FairBudget(100, several);
  const { granted, ask, release } = asking(budget);
  void ask('a1', 'A', 30);
  void ask('a2', 'A', 30);
  void ask('a3', 'A', 10);
  void ask('b', 'B', 50);
  await turn();
  assert.deepEqual(granted, ['a1', 'b'], 'a3 would fit, but a2 of the same owner asked first');
  await release('a1');
  assert.deepEqual(granted, ['a1', 'b', 'a2', 'a3']);
});

test('a single owner may hold everything', async () => {
  const budget = new FairBudget(100, single);
  const { granted, ask } = asking(budget);
  void ask('a1', 'A', 70);
  void ask('a2', 'A', 30);
  await turn();
  assert.deepEqual([granted, budget.held], [['a1', 'a2'], 100]);
});

test('queues take turns by owner, whatever their length', async () => {
  const budget = new FairBudget(1, several);
  const { granted, ask, release } = asking(budget);
  for (const name of ['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'b2']) void ask(name, name.charAt(0), 1);
  const order = ['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4'];
  for (const name of order) {
    await turn();
    assert.equal(granted.at(-1), name);
    await release(name);
  }
  assert.deepEqual([granted, budget.held, budget.waiting], [order, 0, 0]);
});

test('a request that turns out smaller makes room for others immediately', async () => {
  const budget = new FairBudget(100, several);
  const { granted, holds, ask, release } = asking(budget);
  void ask('a', 'A', 50);
  void ask('b', 'B', 50);
  void ask('c', 'C', 50);
  await turn();
  assert.deepEqual(granted, ['a', 'b']);
  holds.get('a')?.shrinkTo(7);
  holds.get('a')?.shrinkTo(40);
  holds.get('b')?.shrinkTo(3);
  await turn();
  assert.deepEqual([granted, budget.held], [['a', 'b', 'c'], 60]);
  for (const name of ['a', 'a', 'b', 'c']) await release(name);
  assert.equal(budget.held, 0);
});

test('a request for more than a share is granted a share', async () => {
  const budget = new FairBudget(100, several);
  using hold = await budget.reserve('A', 1000, never);
  assert.equal(budget.held, 50);
  hold.shrinkTo(80);
  assert.equal(budget.held, 50);
});

test('an aborted request leaves its queue and the others continue', async () => {
  const budget = new FairBudget(100, several);
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
  assert.deepEqual([granted, budget.waiting, budget.held], [['a', 'b', 'd'], 0, 100]);
  await assert.rejects(ask('e', 'E', 1, stop.signal), /cancelled/);
});

test('tryGrow refuses above the share of an owner and above the budget', () => {
  const budget = new FairBudget(10, several);
  using a = budget.hold('A');
  assert.deepEqual([a.tryGrow(5), a.tryGrow(1), a.amount], [true, false, 5]);
  using b = budget.hold('B');
  using c = budget.hold('C');
  assert.deepEqual([b.tryGrow(4), c.tryGrow(2), c.tryGrow(1)], [true, false, true]);
  assert.deepEqual([b.tryGrow(1), budget.held], [false, 10]);
});

test('an owner above its share takes no room from others', async () => {
  let owners = 1;
  const budget = new FairBudget(10, () => owners > 1);
  using a = budget.hold('A');
  assert.equal(a.tryGrow(10), true);
  owners = 2;
  using b = budget.hold('B');
  assert.deepEqual([budget.fits('A', 1), b.tryGrow(5), b.tryGrow(1)], [false, true, false]);
  a.grow(3);
  assert.deepEqual([a.amount, budget.held], [13, 18]);
});
