import assert from 'node:assert/strict';
import { argon2Sync } from 'node:crypto';
import { test } from 'node:test';
import { Refusal } from '../domain/refusal.ts';
import { checkPassword, PasswordTurns } from './password-turns.ts';

test('a hash verifies its password only; no hash verifies none', async () => {
  await new PasswordTurns().run(async ({ hash, verify }) => {
    const stored = await hash('correct horse battery');
    assert.match(stored, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
    assert.equal(await verify('correct horse battery', stored), true);
    assert.equal(await verify('correct horse batterx', stored), false);
    assert.equal(await verify('correct horse battery', null), false);
    assert.notEqual(await hash('correct horse battery'), stored);
  });
});

test('the parameters of a hash are read from it', async () => {
  const salt = Buffer.alloc(16, 7);
  const parameters = { message: 'old', nonce: salt, parallelism: 1, tagLength: 32, memory: 8, passes: 1 };
  const text = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');
  const stored = `$argon2id$v=19$m=8,t=1,p=1$${text(salt)}$${text(argon2Sync('argon2id', parameters))}`;
  assert.equal(await new PasswordTurns().run(({ verify }) => verify('old', stored)), true);
});

test('two jobs run concurrently, 100 wait in their order, further ones are refused', async () => {
  const turns = new PasswordTurns();
  const started: number[] = [];
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  const job = (index: number) =>
    turns.run(async () => {
      started.push(index);
      await opened;
      if (index === 0) throw new Error('A job that fails ends its turn.');
    });
  const jobs = Array.from({ length: 102 }, (_, index) => job(index).catch(() => {}));
  assert.deepEqual(started, [0, 1]);
  await assert.rejects(job(102), (error) => error instanceof Refusal && error.code === 'unavailable');
  open();
  await Promise.all(jobs);
  assert.deepEqual(
    started,
    Array.from({ length: 102 }, (_, index) => index),
  );
  assert.equal(await turns.run(async () => 'free again'), 'free again');
});

test('passwords have 12 to 1024 characters, 8 different ones, and are not the e-mail', () => {
  const check = (password: string) => () => checkPassword(password, 'person@example.com');
  const varied = (length: number) => 'abcdefgh'.repeat(200).slice(0, length);
  const emoji = (count: number) =>
    Array.from({ length: count }, (_, i) => String.fromCodePoint(0x1f600 + (i % 8))).join('');
  for (const good of [varied(12), emoji(12), emoji(1024), `${'x'.repeat(1017)}abcdefg`])
    assert.doesNotThrow(check(good));
  for (const weak of [
    varied(11),
    emoji(11),
    `${'x'.repeat(1018)}abcdefg`,
    'x'.repeat(1024),
    'abcdefg'.repeat(2),
    'person@example.com',
    ' Person@Example.com ',
  ]) {
    assert.throws(check(weak), (error) => error instanceof Refusal && error.code === 'weak_password');
  }
});
