import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { historyBudget, turnsToLeaveOut } from './fit-window.ts';

const sum = (tokens: readonly number[]) => tokens.reduce((total, one) => total + one, 0);

test('leaves out nothing that fits, and otherwise as many of the oldest turns as make the rest fit', () => {
  assert.equal(turnsToLeaveOut([50, 50], 100), 0);
  assert.equal(turnsToLeaveOut([50, 51], 100), 1);
  assert.equal(turnsToLeaveOut([500], 100), 1);
  assert.equal(turnsToLeaveOut([], 0), 0);
  const tokens = fc.array(fc.integer({ min: 1, max: 500 }), { maxLength: 40 });
  fc.assert(
    fc.property(tokens, fc.integer({ min: 0, max: 2000 }), (turns, budget) => {
      const leftOut = turnsToLeaveOut(turns, budget);
      assert.ok(sum(turns.slice(leftOut)) <= budget);
      assert.equal(leftOut > 0, sum(turns) > budget);
    }),
    { numRuns: 5000 },
  );
});

test('the beginning stands still for many turns: it moves once for each quarter of the budget', () => {
  const turns: number[] = [];
  const moves = new Set<number>();
  let least = Number.POSITIVE_INFINITY;
  for (let turn = 0; turn < 1000; turn += 1) {
    turns.push(10);
    const leftOut = turnsToLeaveOut(turns, 1000);
    assert.ok(leftOut >= Math.max(0, ...moves), 'a turn that was left out does not come back');
    moves.add(leftOut);
    if (turn >= 100) least = Math.min(least, sum(turns.slice(leftOut)));
  }
  assert.equal(moves.size, 1 + (10_000 - 1000) / 250);
  assert.ok(least >= 750, 'and never leaves out more than a quarter too much');
});

test('half of the window is for the earlier turns, or what the rest of the prompt leaves of four fifths', () => {
  assert.equal(historyBudget(1000, 0), 500);
  assert.equal(historyBudget(1000, 300), 500);
  assert.equal(historyBudget(1000, 301), 499);
  assert.equal(historyBudget(1000, 5000), 0);
});
