import type { ErasedIds } from '../domain/erased-ids.ts';
import { DEFAULT_MEMBER_FOLDER, memberFolder } from '../domain/file-access.ts';
import { takeBelow } from '../files/folder-sums.ts';
import {
  activeRunsOfPerson,
  addUsageDays,
  chatsOfPerson,
  closeForms,
  deletePersonsFiles,
  deleteUsageDays,
  type ErasureRow,
  erasePersonsBlobs,
  erasureOf,
  markReplaced,
  memberFolderOf,
  type Person,
  replaceAdjustments,
  replaceChat,
  replaceRuns,
  sumPersonsFiles,
} from '../store/queries/erasures.ts';
import { rangeBelow } from '../store/queries/files.ts';
import { lockIntegrationForFiles } from '../store/queries/locks.ts';
import { first, type Store, type Tx } from '../store/store.ts';

/** Error messages can contain names of files, URLs and texts. */
const ERASED_MESSAGE = 'The message was erased with its member.';
/** How many statements are sent together. */
const TOGETHER = 500;
/** Runs per statement: PostgreSQL ends a statement after 5 s. */
const RUNS_TOGETHER = 5000;

/**
 * E3: replaces the id of the person everywhere it is kept, and makes everything else invisible: chats, files and upload
 * forms. After the commit the id can be registered again, so nothing of the person may be found by the id, the chat ids or
 * the folder any more. Resolves to false if a run of the person is active.
 */
export function replacePerson(store: Store, ids: ErasedIds, erasure: ErasureRow): Promise<boolean> {
  const { integration_id: integrationId, erased_id: erasedId, started_at: startedAt } = erasure;
  return store.transact('erasure', async (tx) => {
    // The first lock, because the files of the person change too.
    await tx.all(lockIntegrationForFiles, { integrationId });
    const now = await first(tx.all(erasureOf, { integrationId, erasedId }));
    if (now === undefined || now.started_at !== startedAt) return false;
    // Another node was faster.
    if (now.consumer_id === null) return true;
    const person = { integrationId, consumerId: now.consumer_id };
    if ((await tx.all(activeRunsOfPerson, person)).length > 0) return false;
    await replaceRows(tx, ids, person, erasedId);
    await hideFiles(tx, ids, person, erasedId);
    return true;
  });
}

async function replaceRows(tx: Tx, ids: ErasedIds, person: Person, erasedId: string): Promise<void> {
  const { integrationId } = person;
  const now = Date.now();
  const chats = await tx.all(chatsOfPerson, person);
  for (let start = 0; start < chats.length; start += TOGETHER) {
    await Promise.all(
      chats.slice(start, start + TOGETHER).map(({ chat_key: chatKey, chat_id: chatId }) => {
        const erasedChatId = ids.chat(integrationId, chatId);
        return tx.run(replaceChat, { chatKey, erasedId, erasedChatId, now });
      }),
    );
  }
  const replacement = { ...person, erasedId, sentence: ERASED_MESSAGE, now, limit: RUNS_TOGETHER };
  while ((await tx.run(replaceRuns, replacement)) === RUNS_TOGETHER);
  await tx.run(replaceAdjustments, { ...person, erasedId });
  await tx.run(addUsageDays, { ...person, erasedId });
  await tx.run(deleteUsageDays, person);
}

/** The blobs stay until their rows in `erased_blobs` are handled. The forms stay, without a path, for late uploads. */
async function hideFiles(tx: Tx, ids: ErasedIds, person: Person, erasedId: string): Promise<void> {
  const { integrationId, consumerId } = person;
  const now = Date.now();
  const template = (await first(tx.all(memberFolderOf, { integrationId })))?.member_folder ?? DEFAULT_MEMBER_FOLDER;
  const folder = memberFolder(template, consumerId);
  const files = { integrationId, erasedId, ...rangeBelow(folder) };
  const bytes = (await first(tx.all(sumPersonsFiles, files)))?.bytes ?? 0;
  await tx.run(erasePersonsBlobs, files);
  await tx.run(deletePersonsFiles, files);
  await takeBelow(tx, integrationId, folder, bytes);
  await tx.run(closeForms, files);
  const folderId = ids.folder(integrationId, folder);
  await tx.run(markReplaced, { integrationId, erasedId, folderId, now });
}
