import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testChatKey } from '@runwire/test-kit/test-ids.ts';
import { newIntegrationId } from '../domain/ids.ts';
import { TurnMemory } from './turn-memory.ts';

const MIB = 1024 * 1024;
const chat = (memoryBytes: number) => {
  const turn = {
    position: 1,
    lastPosition: 2,
    lastRunId: 'r',
    tokens: 1,
    begins: 0,
    ends: 1,
    items: [],
    callIds: [],
    memoryBytes,
  };
  return { turns: [{ ...turn, stored: null, attached: null }], from: 1, before: 3, textBytes: 1, summary: null };
};

test('keeps the 1000 chats that were used last', () => {
  using memory = new TurnMemory();
  for (let key = 0; key < 1000; key += 1) memory.set(newIntegrationId('demo'), testChatKey(`${key}`), chat(1));
  memory.get(testChatKey('0'));
  memory.set(newIntegrationId('demo'), testChatKey('1000'), chat(1));
  assert.deepEqual(
    ['0', '1', '2', '1000'].map((key) => memory.get(testChatKey(key)) !== undefined),
    [true, false, true, true],
  );
  assert.equal(memory.size, 1000);
});

test('keeps at most 64 MiB, and no chat that needs more than its share', () => {
  using memory = new TurnMemory();
  for (let key = 0; key < 40; key += 1) {
    memory.set(newIntegrationId('demo'), testChatKey(`${key}`), chat(3 * MIB));
    assert.ok(memory.memoryBytes <= 64 * MIB);
  }
  assert.equal(memory.size, 21);
  // A chat that grew beyond its share leaves with its old entry.
  memory.set(newIntegrationId('demo'), testChatKey('39'), chat(5 * MIB));
  assert.equal(memory.get(testChatKey('39')), undefined);
  for (const key of Array.from({ length: 40 }, (_, index) => `${index}`)) memory.delete(testChatKey(key));
  assert.deepEqual([memory.size, memory.memoryBytes], [0, 0]);
});

test('forgets chats that were not used for ten minutes', () => {
  using memory = new TurnMemory();
  memory.set(newIntegrationId('demo'), testChatKey('a'), chat(1));
  memory.forgetIdle(performance.now() + 9 * 60_000);
  assert.equal(memory.size, 1);
  memory.forgetIdle(performance.now() + 10 * 60_000 + 1);
  assert.deepEqual([memory.size, memory.memoryBytes], [0, 0]);
});
