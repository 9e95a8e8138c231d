import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { ToolLists } from './tool-lists.ts';

const ask = (id: number, cursor?: string): JSONRPCMessage => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/list',
  params: cursor === undefined ? {} : { cursor },
});
const answer = (id: number): JSONRPCMessage => ({ jsonrpc: '2.0', id, result: { tools: [] } });

test('the pages of one list are limited together, and each list begins anew', () => {
  const limit = new ToolLists(100);
  const page = (id: number, cursor: string | undefined, characters: number) => {
    limit.sent(ask(id, cursor));
    return 'result' in limit.received(answer(id), () => characters);
  };
  assert.deepEqual([page(1, undefined, 60), page(2, 'a', 40), page(3, 'b', 1)], [true, true, false]);
  assert.deepEqual([page(4, undefined, 100), page(5, undefined, 101)], [true, false]);
});

test('other messages pass, and their size is not computed', () => {
  const limit = new ToolLists(1);
  limit.sent({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: {} });
  const never = () => assert.fail('the size is not needed');
  for (const message of [answer(1), answer(2), ask(3), { jsonrpc: '2.0', method: 'x' } as const]) {
    assert.equal(limit.received(message, never), message);
  }
});
