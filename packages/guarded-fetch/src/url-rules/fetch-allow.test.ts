import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ALLOW_NOTHING, parseFetchAllow } from './fetch-allow.ts';

test('reads names, addresses and ranges, each with or without a port', () => {
  const text =
    'Files.Internal, files.internal:8443\n10.0.0.5 10.0.0.5:8443,10.1.0.0/16\t10.2.0.0/16:9000 fd00::5 [fd00::6] [fd00::7]:8443 fd01::/16 [fd02::]/16 [fd03::]/16:9000 fd04::/16:9000 ,';
  assert.deepEqual(parseFetchAllow(text).entries, [
    'files.internal:443',
    'files.internal:8443',
    '10.0.0.5/32:443',
    '10.0.0.5/32:8443',
    '10.1.0.0/16:443',
    '10.2.0.0/16:9000',
    '[fd00::5]/128:443',
    '[fd00::6]/128:443',
    '[fd00::7]/128:8443',
    '[fd01::]/16:443',
    '[fd02::]/16:443',
    '[fd03::]/16:9000',
    '[fd04::]/16:9000',
  ]);
  assert.deepEqual(ALLOW_NOTHING.entries, []);
});

test('an entry applies only to its port', () => {
  const allow = parseFetchAllow('files.internal:8443 10.1.0.0/16 [fd00::]/8:9000');
  assert.equal(allow.allowsHost('files.internal', 8443), true);
  assert.equal(allow.allowsHost('files.internal', 443), false);
  assert.equal(allow.allowsHost('x.files.internal', 8443), false);
  assert.equal(allow.allowsAddress('10.1.2.3', 443), true);
  assert.equal(allow.allowsAddress('::ffff:10.1.2.3', 443), true);
  assert.equal(allow.allowsAddress('10.1.2.3', 8443), false);
  assert.equal(allow.allowsAddress('10.2.2.3', 443), false);
  assert.equal(allow.allowsAddress('fd12::1', 9000), true);
  assert.equal(allow.allowsAddress('files.internal', 8443), false);
  assert.equal(allow.mayAllowPort('[fd12::1]', 9000), true);
  assert.equal(allow.mayAllowPort('[::1]', 9000), false);
  assert.equal(allow.mayAllowPort('any.internal', 9000), true);
  assert.equal(allow.mayAllowPort('any.internal', 8443), false);
});

test('refuses an invalid entry and names its number', () => {
  for (const entry of [
    'https://files.internal',
    'files.internal/8',
    '1::/8:0',
    'files.internal/',
    'files.internal:0',
    'files.internal:65536',
    'files.internal:',
    'files.internal:https',
    '*.internal',
    '*',
    'files.internal.',
    'user@files.internal',
    '10.0.0.1/8',
    '10.0.0.0/33',
    '10.0.0',
    '0x7f.1',
    '10.0.0.256',
    '[10.0.0.1]',
    '[fd00::1',
    'fd00::1/8',
    '[fe80::1%eth0]',
    '::ffff:10.0.0.1',
    '[]',
    ':443',
    'fd00::g',
  ]) {
    assert.throws(
      () => parseFetchAllow(`files.internal ${entry}`),
      (error: Error) => error.message.startsWith('has an entry, number 2, that is not a host'),
      entry,
    );
  }
});
