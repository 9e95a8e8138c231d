import type { ChatKey } from '../domain/ids.ts';
import { deleteAskedQuestions } from '../store/queries/asked-questions.ts';
import { deleteAttachments, freeBlobsOfChat } from '../store/queries/attachments.ts';
import { deleteStates } from '../store/queries/chat-states.ts';
import { deleteChat, deleteMessages } from '../store/queries/chats.ts';
import {
  deleteChunksOfChat,
  deleteCompactedOfChat,
  deleteExtrasOfChat,
  deleteStepsOfChat,
  deleteUnfinishedOfChat,
} from '../store/queries/eventlog.ts';
import { deleteAnnounced } from '../store/queries/files.ts';
import { deleteSharedRuns, lockSharedRuns } from '../store/queries/shared-runs.ts';
import { deleteTransientMark } from '../store/queries/transient-chats.ts';
import type { Tx } from '../store/store.ts';

/**
 * Deletes what a chat has, except what another chat shares. The caller has locked the chat's row, and no run is active in it.
 * Forget the chat's turns after the commit.
 */
export async function deleteWholeChat(tx: Tx, chatKey: ChatKey, now: number): Promise<void> {
  await tx.run(deleteChat, { chatKey, now });
  await tx.all(lockSharedRuns, { chatKey });
  // The messages name the chat's runs, so they are deleted after what belongs to the runs.
  await tx.run(deleteChunksOfChat, { chatKey });
  await tx.run(deleteCompactedOfChat, { chatKey });
  await tx.run(deleteStepsOfChat, { chatKey });
  await tx.run(deleteUnfinishedOfChat, { chatKey });
  await tx.run(deleteExtrasOfChat, { chatKey });
  await deleteContent(tx, chatKey, now);
}

/** Deletes messages, attachments and all else that refers to the chat by its key. */
export async function deleteContent(tx: Tx, chatKey: ChatKey, now: number): Promise<void> {
  await tx.run(deleteMessages, { chatKey });
  await tx.run(freeBlobsOfChat, { chatKey, since: now });
  await tx.run(deleteAttachments, { chatKey });
  await tx.run(deleteAnnounced, { chatKey });
  await tx.run(deleteStates, { chatKey });
  await tx.run(deleteSharedRuns, { chatKey });
  await tx.run(deleteAskedQuestions, { chatKey });
  await tx.run(deleteTransientMark, { chatKey });
}
