import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testRunId } from '@runwire/test-kit/test-ids.ts';
import type { RunEventBody } from '../domain/run/events.ts';
import { decodeChunk } from '../eventlog/chunk-codec.ts';
import { RunLog } from '../eventlog/run-log.ts';
import { UnstoredBytes } from '../eventlog/unstored-bytes.ts';
import { EventHold } from './event-hold.ts';

const left = (turns: number): RunEventBody => ({ type: 'history_left_out', agent: 'A', turns });

function newLog(): RunLog {
  const bounds = { chunkBytes: 10_000, heldBytes: 10_000, unstoredRunBytes: 10_000 };
  const unstored = new UnstoredBytes(100_000, () => {});
  return new RunLog({ runId: testRunId('run_1'), attempt: 1, stored: [], bounds, unstored, onAppend: () => {} });
}

const listTurns = (log: RunLog) =>
  log.heldAfter(0)?.events.map((event) => (event.type === 'history_left_out' ? `${event.id}:${event.turns}` : ''));

test('events that are emitted during a commit follow the events of the commit', async () => {
  const log = newLog();
  const hold = new EventHold(log);
  hold.emit(left(1));
  log.acknowledge(log.takeChunks().at(-1)?.last_id ?? 0);
  const committed = Promise.withResolvers<void>();
  const publishing = hold.during(async () => {
    const { events, chunks } = log.draft([left(2), left(3)]);
    await committed.promise;
    log.publish(events);
    return chunks;
  });
  await Promise.resolve();
  const { freed } = hold;
  hold.emit(left(4));
  assert.deepEqual(listTurns(log), ['1:1'], 'nothing is seen before the commit');
  committed.resolve();
  const [chunk] = await publishing;
  await freed;
  assert.equal(hold.freed, null);
  assert.deepEqual(listTurns(log), ['1:1', '2:2', '3:3', '4:4']);
  assert.deepEqual(
    decodeChunk(chunk?.first_id ?? 0, chunk?.data ?? '').events.map(({ id }) => id),
    [2, 3],
  );
  assert.ok(log.wantsFlush);
  assert.deepEqual(
    log.takeChunks().map(({ first_id, last_id }) => [first_id, last_id]),
    [[4, 4]],
    'what the commit stored is not stored again',
  );
});

test('commits run one after the other, and a failed one gives its ids back', async () => {
  const log = newLog();
  const hold = new EventHold(log);
  const order: string[] = [];
  const failing = hold.during(async () => {
    order.push('first');
    log.draft([left(1)]);
    await Promise.resolve();
    order.push('failed');
    throw new Error('refused');
  });
  const second = hold.during(async () => {
    order.push('second');
    log.publish(log.draft([left(2)]).events);
  });
  await assert.rejects(failing, /refused/);
  await second;
  assert.deepEqual(order, ['first', 'failed', 'second']);
  assert.deepEqual(listTurns(log), ['1:2']);
});
