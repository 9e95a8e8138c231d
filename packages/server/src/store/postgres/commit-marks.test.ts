import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClientBase } from 'pg';
import { CommitMarks } from './commit-marks.ts';

const client = () => ({}) as ClientBase;

test('no two transactions of any process have the same mark', () => {
  const processes = [new CommitMarks(), new CommitMarks()];
  const clients = [client(), client(), client()];
  const marks = processes.flatMap((marks) =>
    clients.flatMap((one) => Array.from({ length: 2500 }, () => marks.next(one))),
  );
  assert.equal(new Set(marks.map((mark) => JSON.stringify(mark))).size, marks.length);
});

test('a row is raised by one connection, at most 1 000 times', () => {
  const marks = new CommitMarks();
  const [one, other] = [client(), client()];
  const rows = Array.from({ length: 1001 }, () => [marks.next(one).connection, marks.next(other).connection]);
  assert.deepEqual(
    [rows[0], rows[999], rows[1000]],
    [
      [1, 2],
      [1, 2],
      [3, 4],
    ],
  );
});
