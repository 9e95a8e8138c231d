import type { ErasedIds } from '../domain/account/erased-ids.ts';
import { DEFAULT_MEMBER_FOLDER, memberFolder } from '../domain/file/file-access.ts';
import { takeBelow } from '../files/folder-sums.ts';
import { eraseAuditEvents } from '../store/queries/audit.ts';
import {
  activeRunsOfPerson,
  chatsOfPerson,
  closeForms,
  deletePersonsFiles,
  type ErasureRow,
  erasePersonsBlobs,
  getErasure,
  markReplaced,
  type Person,
  readMemberFolder,
  replaceAdjustments,
  replaceChat,
  replaceRuns,
  runsOfPerson,
  sumPersonsFiles,
  tagPersonsPending,
} from '../store/queries/erasures.ts';
import { rangeBelow, storedPath } from '../store/queries/files.ts';
import { forgetFolders } from '../store/queries/folder-bytes.ts';
import { lockIntegrationForFiles } from '../store/queries/locks.ts';
import { addUsageDays, deleteUsageDays, markUsageDaysMoved } from '../store/queries/rollups.ts';
import { deleteSchedulesOfPerson, deleteTicksOfPerson } from '../store/queries/schedules.ts';
import { deletePersonsChecks } from '../store/queries/webhook-checks.ts';
import { first, type Store, type Tx } from '../store/store.ts';
import { deleteSomeEvents, deleteSomeUploadEvents } from './delete-events.ts';

/** Error messages can contain names of files, URLs and texts. */
const ERASED_MESSAGE = 'The message was erased with its member.';
/** Rows per transaction before E3: on the embedded store 1000 runs take about 30 ms. */
const PAGE = 1000;
/** Rows per statement of E3: PostgreSQL ends a statement after 5 s. */
const TOGETHER = 5000;
/** Audit events per statement: each is in seven indexes and can have 32 KiB of changes. */
const AUDIT_EVENTS = 250;

/**
 * Replaces the id in most runs and chats of the person, in small transactions, so that E3 is short also for a person with
 * 100 000 runs. Call it if no run of the person is active; the id is refused, so none can start.
 */
export async function replaceEarly(
  store: Store,
  ids: ErasedIds,
  erasure: ErasureRow,
  isClosed: () => boolean,
): Promise<void> {
  const { integration_id: integrationId, consumer_id: consumerId } = erasure;
  if (consumerId === null) return;
  const page = { integrationId, consumerId, limit: PAGE };
  /** Resolves to true if there may be more. */
  const replace = (work: (tx: Tx, person: Person) => Promise<boolean>): Promise<boolean> =>
    store.transact('erasure', async (tx) => {
      const person = await refusedPerson(tx, erasure);
      return person !== null && work(tx, person);
    });
  while (!isClosed() && (await replace(async (tx) => (await tx.run(deleteTicksOfPerson, page)) === PAGE)));
  while (!isClosed() && (await replace(deleteSomeEvents)));
  while (!isClosed() && (await replace(deleteSomeUploads)));
  while (!isClosed() && (await replace((tx, person) => eraseSomeAuditEvents(tx, person, erasure.erased_id))));
  while (!isClosed() && (await store.reads.all(runsOfPerson, page)).length === PAGE) {
    await replace(async (tx, person) => (await tx.run(replaceRuns, replacement(person, erasure, PAGE))) === PAGE);
  }
  while (!isClosed() && (await store.reads.all(chatsOfPerson, page)).length === PAGE) {
    await replace(async (tx, person) => (await replaceChats(tx, ids, person, erasure.erased_id, PAGE)) === PAGE);
  }
}

/**
 * E3: replaces the id of the person everywhere it is kept, and makes everything else invisible: chats, files and upload
 * forms. After the commit the id can be registered again, so nothing of the person may be found by the id, the chat ids or
 * the folder any more. Resolves to false if a run of the person is active.
 */
export function replacePerson(store: Store, ids: ErasedIds, erasure: ErasureRow): Promise<boolean> {
  const { integration_id: integrationId, erased_id: erasedId, started_at: startedAt } = erasure;
  return store.transact('erasure', async (tx) => {
    const person = await refusedPerson(tx, erasure);
    if (person === null) {
      // True if another node was faster.
      return (await first(tx.all(getErasure, { integrationId, erasedId })))?.started_at === startedAt;
    }
    if ((await tx.all(activeRunsOfPerson, person)).length > 0) return false;
    await replaceRows(tx, ids, person, erasure);
    await hideFiles(tx, ids, person, erasedId);
    return true;
  });
}

/** Resolves to null if the erasure was begun again, or if another node has replaced the id: it may be registered again. */
async function refusedPerson(tx: Tx, erasure: ErasureRow): Promise<Person | null> {
  const { integration_id: integrationId, erased_id: erasedId, started_at: startedAt } = erasure;
  // The first lock, because E3 changes the person's files too.
  await tx.all(lockIntegrationForFiles, { integrationId });
  const now = await first(tx.all(getErasure, { integrationId, erasedId }));
  if (now === undefined || now.started_at !== startedAt || now.consumer_id === null) return null;
  return { integrationId, consumerId: now.consumer_id };
}

const replacement = (person: Person, { erased_id: erasedId }: ErasureRow, limit: number) => ({
  ...person,
  erasedId,
  sentence: ERASED_MESSAGE,
  now: Date.now(),
  limit,
});

async function replaceRows(tx: Tx, ids: ErasedIds, person: Person, erasure: ErasureRow): Promise<void> {
  const { erased_id: erasedId } = erasure;
  while ((await replaceChats(tx, ids, person, erasedId, TOGETHER)) === TOGETHER);
  while ((await tx.run(replaceRuns, replacement(person, erasure, TOGETHER))) === TOGETHER);
  await tx.run(replaceAdjustments, { ...person, erasedId });
  while ((await tx.run(deleteTicksOfPerson, { ...person, limit: TOGETHER })) === TOGETHER);
  await tx.run(deleteSchedulesOfPerson, person);
  await tx.run(addUsageDays, { ...person, erasedId });
  await tx.run(markUsageDaysMoved, person);
  await tx.run(deleteUsageDays, person);
  await tx.run(deletePersonsChecks, person);
  while (await deleteSomeEvents(tx, person));
  while (await eraseSomeAuditEvents(tx, person, erasedId));
}

/** Resolves to the number of chats. */
async function replaceChats(tx: Tx, ids: ErasedIds, person: Person, erasedId: string, limit: number): Promise<number> {
  const now = Date.now();
  const chats = await tx.all(chatsOfPerson, { ...person, limit });
  await Promise.all(
    chats.map(({ chat_key: chatKey, chat_id: chatId }) => {
      const erasedChatId = ids.chat(person.integrationId, chatId);
      return tx.run(replaceChat, { chatKey, erasedId, erasedChatId, now });
    }),
  );
  return chats.length;
}

/** Deletes some events about uploads below the person's folder. */
async function deleteSomeUploads(tx: Tx, person: Person): Promise<boolean> {
  const folder = await personsFolder(tx, person);
  return deleteSomeUploadEvents(tx, { integrationId: person.integrationId, ...rangeBelow(folder) });
}

/** Resolves to true if there may be more. */
async function eraseSomeAuditEvents(tx: Tx, person: Person, erasedId: string): Promise<boolean> {
  const folder = await personsFolder(tx, person);
  const events = { ...person, erasedId, ...rangeBelow(folder), folder: storedPath(folder), limit: AUDIT_EVENTS };
  return (await tx.run(eraseAuditEvents, events)) === AUDIT_EVENTS;
}

async function personsFolder(tx: Tx, { integrationId, consumerId }: Person) {
  const template = (await first(tx.all(readMemberFolder, { integrationId })))?.member_folder ?? DEFAULT_MEMBER_FOLDER;
  return memberFolder(template, consumerId);
}

/** The blobs stay until their rows in `erased_blobs` are handled. The forms stay, without a path, for late uploads. */
async function hideFiles(tx: Tx, ids: ErasedIds, person: Person, erasedId: string): Promise<void> {
  const { integrationId } = person;
  const now = Date.now();
  const folder = await personsFolder(tx, person);
  const files = { integrationId, erasedId, ...rangeBelow(folder) };
  const bytes = (await first(tx.all(sumPersonsFiles, files)))?.bytes ?? 0;
  while (await deleteSomeUploadEvents(tx, files));
  await tx.run(erasePersonsBlobs, files);
  await tx.run(tagPersonsPending, files);
  const deleted = await tx.run(deletePersonsFiles, files);
  await takeBelow(tx, integrationId, folder, bytes);
  // The person's chats may have made files in folders of other members.
  await tx.run(forgetFolders, { integrationId });
  const closed = await tx.run(closeForms, files);
  const folderId = ids.folder(integrationId, folder);
  const content = Number(deleted + closed > 0);
  await tx.run(markReplaced, { integrationId, erasedId, folderId, content, now });
}
