import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DiskFull } from '@runwire/server/src/domain/unavailable.ts';
import { hasDiskSpace, isDiskFull } from './disk-full.ts';

const withCode = (code: string) => Object.assign(new Error('no space left'), { code });

test('a full disk is recognised through the errors that it caused', () => {
  assert.ok(isDiskFull(withCode('ENOSPC')));
  assert.ok(isDiskFull(withCode('EDQUOT')));
  assert.ok(isDiskFull(new DiskFull()));
  assert.ok(isDiskFull(new Error('refused', { cause: new Error('twice', { cause: withCode('ENOSPC') }) })));
  for (const other of [withCode('EACCES'), new Error('refused'), null, 'ENOSPC'])
    assert.equal(isDiskFull(other), false);
});

test('a place that reports no size has space', () => {
  assert.ok(hasDiskSpace('/proc'));
  assert.ok(hasDiskSpace('/not/there'));
});
