import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DiskFull, StoreUnavailable } from '../../domain/unavailable.ts';
import { isFailedSync, translate } from './errors.ts';

const toError = (errcode: number) => Object.assign(new Error('from SQLite'), { errcode });
const [FULL, IOERR, IOERR_READ, IOERR_WRITE, IOERR_FSYNC, IOERR_DIR_FSYNC, IOERR_SHMSIZE] = [
  13, 10, 266, 778, 1034, 1290, 4874,
] as const;

test('only a failed sync ends the process', () => {
  const codes = [FULL, IOERR, IOERR_READ, IOERR_WRITE, IOERR_FSYNC, IOERR_DIR_FSYNC, IOERR_SHMSIZE];
  assert.deepEqual(
    codes.filter((code) => isFailedSync(toError(code))),
    [IOERR_FSYNC, IOERR_DIR_FSYNC],
  );
});

test('disk errors become StoreUnavailable, or DiskFull if the disk is full', () => {
  for (const code of [FULL, IOERR_SHMSIZE]) assert.ok(translate(toError(code)) instanceof DiskFull, String(code));
  for (const code of [IOERR, IOERR_READ, IOERR_WRITE]) {
    const translated = translate(toError(code));
    assert.ok(translated instanceof StoreUnavailable && !(translated instanceof DiskFull), String(code));
  }
  const fault = toError(1);
  assert.equal(translate(fault), fault, 'a fault of ours stays one');
});
