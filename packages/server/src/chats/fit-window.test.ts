import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { historyBudget } from '../domain/model/model-window.ts';
import { type MeasuredTurn, turnsToLeaveOut } from './fit-window.ts';

const sum = (tokens: readonly number[]) => tokens.reduce((total, one) => total + one, 0);

/** Turns of `tokens` each, of which `texts` are message texts: all of them if no tool was called. */
function measured(tokens: readonly number[], texts: readonly number[] = tokens): MeasuredTurn[] {
  let ends = 0;
  return tokens.map((own, turn) => {
    const begins = ends;
    ends += texts[turn] ?? 0;
    return { tokens: own, begins, ends };
  });
}

test('leaves out the oldest turns that do not fit, and nothing else', () => {
  assert.equal(turnsToLeaveOut(measured([50, 50]), 100), 0);
  assert.equal(turnsToLeaveOut(measured([50, 51]), 100), 1);
  assert.equal(turnsToLeaveOut(measured([500]), 100), 1);
  assert.equal(turnsToLeaveOut(measured([]), 0), 0);
  const tokens = fc.array(fc.integer({ min: 1, max: 500 }), { maxLength: 40 });
  fc.assert(
    fc.property(tokens, fc.integer({ min: 0, max: 2000 }), (turns, budget) => {
      const leftOut = turnsToLeaveOut(measured(turns), budget);
      assert.ok(sum(turns.slice(leftOut)) <= budget);
      assert.equal(leftOut > 0, sum(turns) > budget);
    }),
    { numRuns: 5000 },
  );
});

test('the first shown turn changes once for each quarter of the budget', () => {
  const turns: number[] = [];
  const moves = new Set<number>();
  let least = Number.POSITIVE_INFINITY;
  for (let turn = 0; turn < 1000; turn += 1) {
    turns.push(10);
    const leftOut = turnsToLeaveOut(measured(turns), 1000);
    assert.ok(leftOut >= Math.max(0, ...moves), 'a turn that was left out stays left out');
    moves.add(leftOut);
    if (turn >= 100) least = Math.min(least, sum(turns.slice(leftOut)));
  }
  assert.equal(moves.size, 1 + (10_000 - 1000) / 250);
  assert.ok(least >= 750, 'and never leaves out more than a quarter too much');
});

test('tool outputs change the first shown turn at most twice as often', () => {
  for (const [seed, text] of [
    [1, 10],
    [2, 2],
    [3, 0.25],
  ] as const) {
    const tokens: number[] = [];
    const texts: number[] = [];
    const moves = new Set<number>();
    let random = seed;
    for (let turn = 0; turn < 2000; turn += 1) {
      random = (random * 48_271) % 2_147_483_647;
      tokens.push(10 + (random % 20));
      texts.push(text);
      const leftOut = turnsToLeaveOut(measured(tokens, texts), 1000);
      assert.ok(leftOut >= Math.max(0, ...moves), 'a turn that was left out stays left out');
      const kept = sum(tokens.slice(leftOut));
      assert.ok(kept <= 1000);
      if (leftOut > 0) assert.ok(kept > 750 - 30, 'never more than a quarter and a turn too much');
      moves.add(leftOut);
    }
    const quarters = (sum(tokens) - 1000) / 250;
    assert.ok(moves.size <= 2 * quarters, `${moves.size} moves in ${quarters} quarters`);
  }
});

test('turns older than the budget reaches do not change the result', () => {
  const turn = fc.record({ tokens: fc.integer({ min: 1, max: 200 }), text: fc.integer({ min: 0, max: 800 }) });
  fc.assert(
    fc.property(fc.array(turn, { maxLength: 60 }), fc.integer({ min: 0, max: 2000 }), (turns, budget) => {
      const all = measured(
        turns.map(({ tokens }) => tokens),
        turns.map(({ tokens, text }) => Math.min(tokens, text / 4)),
      );
      const whole = turnsToLeaveOut(all, budget);
      for (let unread = 0; unread <= all.length; unread += 1) {
        const read = all.slice(unread);
        if (sum(read.map(({ tokens }) => tokens)) <= budget) break;
        assert.equal(unread + turnsToLeaveOut(read, budget), whole);
      }
    }),
    { numRuns: 2000 },
  );
});

test('earlier turns get half of the window, or the rest of four fifths', () => {
  assert.equal(historyBudget(1000, 0), 500);
  assert.equal(historyBudget(1000, 300), 500);
  assert.equal(historyBudget(1000, 301), 499);
  assert.equal(historyBudget(1000, 5000), 0);
});
