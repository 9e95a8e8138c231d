import assert from 'node:assert/strict';
import { argon2Sync } from 'node:crypto';
import { test } from 'node:test';
import { Refusal } from '../domain/refusal.ts';
import { checkPassword, PasswordHashing } from './password-hashing.ts';

test('a hash verifies its password only; no hash verifies none', async () => {
  const passwords = new PasswordHashing();
  const stored = await passwords.hash('correct horse battery');
  assert.match(stored, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
  assert.equal(await passwords.verify('correct horse battery', stored), true);
  assert.equal(await passwords.verify('correct horse batterx', stored), false);
  assert.equal(await passwords.verify('correct horse battery', null), false);
  assert.notEqual(await passwords.hash('correct horse battery'), stored);
});

test('parameters are read from the hash; further hashes are refused while 100 wait', async () => {
  const salt = Buffer.alloc(16, 7);
  const parameters = { message: 'old', nonce: salt, parallelism: 1, tagLength: 32, memory: 8, passes: 1 };
  const text = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');
  const stored = `$argon2id$v=19$m=8,t=1,p=1$${text(salt)}$${text(argon2Sync('argon2id', parameters))}`;
  const passwords = new PasswordHashing();
  const verify = () => passwords.verify('old', stored);
  const started = Array.from({ length: 101 }, verify);
  passwords.refuseIfBusy();
  started.push(verify());
  assert.throws(
    () => passwords.refuseIfBusy(),
    (error) => error instanceof Refusal && error.code === 'unavailable',
  );
  assert.ok((await Promise.all(started)).every(Boolean));
  passwords.refuseIfBusy();
  assert.equal(await verify(), true);
});

test('passwords have 12 to 1024 characters and are not the e-mail', () => {
  const check = (password: string) => () => checkPassword(password, 'person@example.com');
  for (const good of ['x'.repeat(12), '🙂'.repeat(12), 'x'.repeat(1024), '🙂'.repeat(1024)])
    assert.doesNotThrow(check(good));
  for (const weak of [
    'x'.repeat(11),
    '🙂'.repeat(11),
    'x'.repeat(1025),
    'person@example.com',
    ' Person@Example.com ',
  ]) {
    assert.throws(check(weak), (error) => error instanceof Refusal && error.code === 'weak_password');
  }
});
