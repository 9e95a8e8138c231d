import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestIds, toTrace } from './request-id.ts';

test('accepts 1 to 128 visible ASCII characters as a request id', () => {
  const ids = new RequestIds('b');
  for (const id of ['x', 'a'.repeat(128), '!~"<>&\\', 'req_b0']) assert.equal(ids.of({ 'x-request-id': id }), id);
  const others = [undefined, '', 'a'.repeat(129), 'a b', 'a, b', 'é', 'a\t', '\u0000', '\u007f'];
  const made = others.map((id) => ids.of(id === undefined ? {} : { 'x-request-id': id }));
  assert.deepEqual(made, ['req_b0', 'req_b1', 'req_b2', 'req_b3', 'req_b4', 'req_b5', 'req_b6', 'req_b7', 'req_b8']);
});

test('a traceparent counts only if W3C Trace Context allows it', () => {
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
  const parent = '00f067aa0ba902b7';
  const isTaken = (traceparent: string) => 'traceparent' in toTrace({ id: 'x', headers: { traceparent }, span: null });
  for (const good of [`00-${trace}-${parent}-01`, `00-${trace}-${parent}-ff`, `cc-${trace}-${parent}-01-more`]) {
    assert.deepEqual(toTrace({ id: 'x', headers: { traceparent: good }, span: null }), {
      requestId: 'x',
      traceparent: good,
    });
  }
  for (const bad of [
    '',
    `ff-${trace}-${parent}-01`,
    `0-${trace}-${parent}-01`,
    `00-${'0'.repeat(32)}-${parent}-01`,
    `00-${trace}-${'0'.repeat(16)}-01`,
    `00-${trace.toUpperCase()}-${parent}-01`,
    `00-${trace}-${parent}-1`,
    `00-${trace}-${parent}-01-more`,
    `00-${trace}-${parent}-01, 00-${trace}-${parent}-01`,
    `cc-${trace}-${parent}-01more`,
    `00-${trace}-${parent}-01\n`,
  ]) {
    assert.equal(isTaken(bad), false, bad);
  }
});
