import { deleteContent } from '../chats/delete-chat.ts';
import type { ErasedIds } from '../domain/account/erased-ids.ts';
import type { ChatKey } from '../domain/ids.ts';
import type { WaitAt } from '../domain/wait-points.ts';
import { unindexEarly } from '../search/unindex.ts';
import { lockChatByKey } from '../store/queries/attachment-copies.ts';
import { deleteBlobRow, keepUsedBlob } from '../store/queries/attachments.ts';
import {
  deleteChatWithoutRuns,
  type ErasedPerson,
  eraseBlob,
  eraseCompacted,
  erasedBlobs,
  erasedChats,
  erasedRuns,
  eraseEvents,
  eraseSteps,
  eraseUnfinishedSteps,
  findUnusedBlobs,
  forgetErasedBlob,
  replaceUsageRequest,
} from '../store/queries/erasures.ts';
import { deleteStepsOfChat } from '../store/queries/eventlog.ts';
import { lockSharedRuns } from '../store/queries/shared-runs.ts';
import type { Store, Tx } from '../store/store.ts';

export interface DeleteDeps {
  readonly store: Store;
  readonly ids: ErasedIds;
  readonly deleteBlob: (blobKey: string) => Promise<void>;
  /** Removes a chat's turns from this node's memory. */
  readonly forgetTurns: (chatKey: ChatKey) => void;
  readonly waitAt: WaitAt | undefined;
  /** True if the server stops: another server continues. */
  readonly isClosed: () => boolean;
}

/** Rows per transaction: a transaction of the erasure delays others by a few milliseconds at most. */
const RUNS = 50;
const CHATS = 20;
const BLOBS = 100;
const ANY_TIME = Number.MAX_SAFE_INTEGER;

/**
 * E4: deletes what E3 made invisible, in small transactions. Idempotent: a server that continues after a crash begins from
 * the start and finds less. Nodes that do this concurrently delete the same things.
 */
export async function deleteRest(deps: DeleteDeps, person: ErasedPerson): Promise<void> {
  await deleteTextsOfRuns(deps, person);
  await deleteContentOfChats(deps, person);
  await freeUnusedBlobs(deps, person);
  await deleteBlobs(deps, person);
}

async function deleteTextsOfRuns({ store, ids, isClosed }: DeleteDeps, person: ErasedPerson): Promise<void> {
  const { integrationId } = person;
  let after = { afterTime: -1, afterRunId: '' };
  while (!isClosed()) {
    const runs = await store.reads.all(erasedRuns, { ...person, ...after, limit: RUNS });
    const last = runs.at(-1);
    if (last === undefined) return;
    await store.transact('erasure', async (tx) => {
      for (const { run_id: runId, usage_request_id: usageRequestId, fingerprint } of runs) {
        if (usageRequestId !== null && fingerprint !== null) {
          const erasedUsageRequestId = ids.usageRequest(integrationId, usageRequestId);
          await tx.run(replaceUsageRequest, { runId, erasedUsageRequestId });
        }
        await Promise.all([
          tx.run(eraseEvents, { runId }),
          tx.run(eraseCompacted, { runId }),
          tx.run(eraseSteps, { runId }),
          tx.run(eraseUnfinishedSteps, { runId }),
        ]);
      }
    });
    after = { afterTime: last.created_at, afterRunId: last.run_id };
  }
}

async function deleteContentOfChats(deps: DeleteDeps, person: ErasedPerson): Promise<void> {
  const { store, forgetTurns, isClosed } = deps;
  for (let after = ''; !isClosed(); ) {
    const chats = await store.reads.all(erasedChats, { ...person, after, limit: CHATS });
    const last = chats.at(-1);
    if (last === undefined) return;
    await unindexEarly(
      store,
      chats.map(({ chat_key: chatKey }) => chatKey),
    );
    await store.transact('erasure', async (tx) => {
      for (const { chat_key: chatKey } of chats) await deleteContentOfChat(tx, chatKey);
    });
    for (const { chat_key: chatKey } of chats) forgetTurns(chatKey);
    after = last.chat_key;
  }
}

async function deleteContentOfChat(tx: Tx, chatKey: ChatKey): Promise<void> {
  await tx.all(lockChatByKey, { chatKey });
  await tx.all(lockSharedRuns, { chatKey });
  // Steps of imported turns, which belong to no run.
  await tx.run(deleteStepsOfChat, { chatKey });
  // Chats of other members can refer to the same blobs, so the next step looks at each. Forks belong to the same member.
  await deleteContent(tx, chatKey, Date.now());
  await tx.run(deleteChatWithoutRuns, { chatKey });
}

/**
 * Blobs of attachments stay for a day after their last message, and the store does not know whose they were. So all blobs of
 * the integration that no message refers to are deleted. If a request needs one of them concurrently, it stores the bytes
 * again, as after a sweep.
 */
async function freeUnusedBlobs({ store, isClosed }: DeleteDeps, person: ErasedPerson): Promise<void> {
  const { integrationId } = person;
  while (!isClosed()) {
    const blobs = await store.reads.all(findUnusedBlobs, { integrationId, limit: BLOBS });
    if (blobs.length === 0) return;
    await store.transact('erasure', async (tx) => {
      for (const { blob_key: blobKey } of blobs) {
        const isUnused = (await tx.run(deleteBlobRow, { blobKey, until: ANY_TIME })) === 1;
        if (isUnused)
          await tx.run(eraseBlob, { integration_id: integrationId, erased_id: person.erasedId, blob_key: blobKey });
        else await tx.run(keepUsedBlob, { blobKey });
      }
    });
  }
}

async function deleteBlobs({ store, deleteBlob, waitAt, isClosed }: DeleteDeps, person: ErasedPerson): Promise<void> {
  while (!isClosed()) {
    const keys = (await store.reads.all(erasedBlobs, { ...person, limit: BLOBS })).map((row) => row.blob_key);
    if (keys.length === 0) return;
    waitAt?.('erasure-bytes.before');
    for (const key of keys) await deleteBlob(key);
    waitAt?.('erasure-bytes.after');
    await store.transact('erasure', async (tx) => {
      for (const blobKey of keys) await tx.run(forgetErasedBlob, { ...person, blobKey });
    });
  }
}
