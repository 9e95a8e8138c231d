import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from '@runwire/test-kit';
import { findEarlierCommit } from './old-version.ts';

const SERVER = 'packages/server/src';
const STORE = `${SERVER}/store/postgres/postgres-store.ts`;
const ENTRY = `${SERVER}/testing/server-main.ts`;
const migration = (name: string) => `${SERVER}/store/migrations/${name}.ts`;

function repository(t: TestContext) {
  const folder = temporaryFolder();
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', ...args], {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  const write = (...paths: string[]) => {
    for (const path of paths) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), `${Math.random()}`);
    }
  };
  const commit = (...paths: string[]) => {
    write(...paths);
    git('add', '-A');
    git('commit', '-q', '-m', 'A step');
    return git('rev-parse', 'HEAD');
  };
  write(migration('0001-first'));
  return { folder, git, write, commit };
}

test('the earlier version is the newest one whose tables differ, uncommitted migrations counted', (t) => {
  const { folder, git, write, commit } = repository(t);
  git('init', '-q');
  commit(STORE, ENTRY);
  const before = commit('README.md');
  commit(migration('0002-second'));
  commit(`${SERVER}/main.ts`);
  assert.deepEqual(findEarlierCommit(folder), { commit: before, isOtherSchema: true });
  const head = git('rev-parse', 'HEAD');
  write(migration('0003-third'));
  assert.deepEqual(findEarlierCommit(folder), { commit: head, isOtherSchema: true });
});

test('a commit that lacks a migration in the middle is no earlier version', (t) => {
  const { folder, git, commit } = repository(t);
  git('init', '-q');
  const before = commit(STORE, ENTRY);
  commit(migration('0003-third'));
  commit(migration('0002-second'));
  assert.deepEqual(findEarlierCommit(folder), { commit: before, isOtherSchema: true });
});

test('without other tables it is the newest one whose server differs', (t) => {
  const { folder, git, commit } = repository(t);
  git('init', '-q');
  const before = commit(STORE, ENTRY);
  commit(`${SERVER}/main.ts`);
  commit('README.md');
  assert.deepEqual(findEarlierCommit(folder), { commit: before, isOtherSchema: false });
});

test('it says in a sentence why there is none: no history, or none with the store', (t) => {
  const { folder, git, commit } = repository(t);
  assert.equal(findEarlierCommit(folder), 'this folder has no history that git can read');
  git('init', '-q');
  commit('README.md');
  commit(STORE, ENTRY);
  assert.equal(findEarlierCommit(folder), 'this clone has no earlier commit with the store on PostgreSQL');
});
