import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { requestedFile } from '../files/requested-path.ts';
import { activeRunOfIntegration, findAnyIntegration } from '../store/queries/accounts.ts';
import { bindAlias } from '../store/queries/admission.ts';
import { chatsInTheWay } from '../store/queries/chats.ts';
import { allChunks } from '../store/queries/eventlog.ts';
import { storedPath } from '../store/queries/files.ts';
import type { Reads, Tx } from '../store/store.ts';
import { chosenChatId, newChatKey, newIntegrationId, newOwnerId, newRunId, ownChatId } from './ids.ts';

test('a path that was not checked does not compile', () => {
  storedPath(requestedFile('path', '/app/mnt/a.txt'));
  // @ts-expect-error It is a text of a caller.
  storedPath('../a.txt');
});

test('the id of an integration whose owner was not checked does not compile', () => {
  const read = (reads: Reads) => [
    reads.all(activeRunOfIntegration, { integrationId: newIntegrationId('mine') }),
    // @ts-expect-error It is a text of a caller.
    reads.all(activeRunOfIntegration, { integrationId: 'theirs' }),
  ];
  assert.equal(read.length, 1);
});

test('the id of a run that was not found in the scope of its caller does not compile', () => {
  const read = (reads: Reads) => [
    reads.all(allChunks, { runId: newRunId() }),
    // @ts-expect-error It is a text of a caller.
    reads.all(allChunks, { runId: 'run_1' }),
    // @ts-expect-error It is a chat's key.
    reads.all(allChunks, { runId: newChatKey() }),
  ];
  assert.equal(read.length, 1);
});

test('the key of a chat that was not loaded or made does not compile', () => {
  const alias = 'a';
  const write = (tx: Tx) => [
    tx.run(bindAlias, { chatKey: newChatKey(), alias }),
    // @ts-expect-error It is a text of a caller.
    tx.run(bindAlias, { chatKey: 'chat_1', alias }),
    // @ts-expect-error It is the id that callers use.
    tx.run(bindAlias, { chatKey: ownChatId(newChatKey()), alias }),
  ];
  assert.equal(write.length, 1);
});

test('the id of a chat that was not checked does not compile', () => {
  const rest = { integrationId: newIntegrationId('mine'), alias: null };
  const read = (reads: Reads) => [
    reads.all(chatsInTheWay, { ...rest, chatId: chosenChatId('c') }),
    // @ts-expect-error It is a text of a caller.
    reads.all(chatsInTheWay, { ...rest, chatId: 'c' }),
    // @ts-expect-error It is a chat's key.
    reads.all(chatsInTheWay, { ...rest, chatId: newChatKey() }),
  ];
  assert.equal(read.length, 1);
  assert.throws(() => chosenChatId('a\nb'), /was not checked/);
});

test('the id of an owner that was not loaded or made does not compile', () => {
  const read = (reads: Reads) => [
    reads.all(findAnyIntegration, { ownerId: newOwnerId() }),
    // @ts-expect-error It is a text of a caller.
    reads.all(findAnyIntegration, { ownerId: 'own_1' }),
    // @ts-expect-error It is an integration's id.
    reads.all(findAnyIntegration, { ownerId: newIntegrationId('mine') }),
  ];
  assert.equal(read.length, 1);
});

/** The modules that check or make ids and paths. Only they turn a text into one. */
const MAKERS = [
  'agency-path.ts',
  'erased-ids.ts',
  'file-access.ts',
  'files.ts',
  'ids.ts',
  'mount-path.ts',
  'owned-integration.ts',
];
const SOURCE = import.meta.dirname.replace(/(?<=[\\/]src)[\\/].*/, '');
const CAST = /\bas (?:string as )?(?:IntegrationId|OwnerId|RunId|ChatKey|ChatId|MountPath|AgencyPath|StoredPath)\b/;

test('only the modules that check or make an id cast a text to it', () => {
  const paths = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' });
  const files = paths.filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'));
  const find = (pattern: RegExp) => files.filter((path) => pattern.test(readFileSync(join(SOURCE, path), 'utf8')));
  assert.deepEqual(
    find(CAST)
      .map((path) => basename(path))
      .sort(),
    MAKERS,
  );
  const sought = find(/\bsoughtId\b/).filter((path) => !path.startsWith(join('store', 'queries')));
  assert.deepEqual(sought, [], 'only statements compare ids with texts');
});
