import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseRange, type Range } from '@runwire/guarded-fetch/url-rules';
import { createLogger } from '../telemetry/logger.ts';
import { clientAddress } from './client-address.ts';
import { ForwardedForWarning } from './forwarded-for.ts';

const TRUSTED = ['10.0.0.0/8', '127.0.0.1/32', 'fd00::/8'].map((text) => parseRange(text) as Range);
const of = (peer: string, forwarded?: string) => clientAddress(peer, forwarded, TRUSTED);
const alone = (peer: string) => clientAddress(peer, undefined, []);

test('the peer counts unless it is a trusted proxy', () => {
  assert.equal(of('203.0.113.7', '198.51.100.1'), alone('203.0.113.7'));
  assert.equal(clientAddress('127.0.0.1', '198.51.100.1', []), alone('127.0.0.1'));
  assert.equal(of('127.0.0.1', '198.51.100.1'), alone('198.51.100.1'));
});

test('the last untrusted address of X-Forwarded-For counts', () => {
  assert.equal(of('10.1.1.1', '1.2.3.4, 198.51.100.1, 10.9.9.9'), alone('198.51.100.1'));
  assert.equal(of('fd00::1', '1.2.3.4,198.51.100.1'), alone('198.51.100.1'));
  assert.equal(of('127.0.0.1', '10.0.0.5, 10.0.0.6'), alone('10.0.0.5'), 'if all are trusted, the first');
});

test('a hop that is no address ends the search at the proxy that wrote it', () => {
  for (const forwarded of [undefined, '', 'unknown', '198.51.100.1, unknown', '198.51.100.1, _hidden']) {
    assert.equal(of('127.0.0.1', forwarded), alone('127.0.0.1'), String(forwarded));
  }
});

test('notations, ports and the last 64 bits of IPv6 make no difference', () => {
  assert.equal(alone('::ffff:203.0.113.7'), alone('203.0.113.7'));
  assert.equal(of('127.0.0.1', '203.0.113.7:5123'), alone('203.0.113.7'));
  assert.equal(of('127.0.0.1', '[2001:db8::1]:5123'), alone('2001:db8::1'));
  assert.equal(alone('2001:db8::1'), alone('2001:DB8:0:0:ffff::9'));
  assert.notEqual(alone('2001:db8::1'), alone('2001:db8:0:1::1'));
  assert.notEqual(alone('0.0.0.1'), alone('0.0.0.2'));
});

test('X-Forwarded-For of a peer that is not trusted is warned of once', () => {
  const logger = createLogger('silent');
  const warned: unknown[] = [];
  logger.warn = (fields: unknown) => void warned.push(fields);
  const warning = new ForwardedForWarning(TRUSTED, logger);
  for (const peer of ['10.1.1.1', '::ffff:127.0.0.1', undefined, '203.0.113.7', '203.0.113.8']) warning.note(peer);
  assert.deepEqual(warned, [{ peer: '203.0.113.7' }]);
});
