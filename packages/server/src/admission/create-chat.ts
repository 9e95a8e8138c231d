import type { AttachmentBlobs } from '../attachments/attachment-blobs.ts';
import { insertAttachments, isInline } from '../attachments/request-attachment.ts';
import type { Audit } from '../audit/audit.ts';
import type { Chats, ImportedHistory, NewChat } from '../chats/chats.ts';
import type { IntegrationId } from '../domain/ids.ts';
import { Refusal } from '../domain/refusal.ts';
import { BlobGone, claimBlobs } from '../files/pending-blobs.ts';
import { type Tx, UniqueViolation } from '../store/store.ts';
import { checkMember, FactsChanged } from './check-member.ts';
import type { RequestTurn } from './completion-request.ts';

export interface CreateChatDeps {
  readonly chats: Chats;
  readonly blobs: AttachmentBlobs;
}

const isConflict = (error: unknown) => error instanceof UniqueViolation || error instanceof BlobGone;

/** Creates a chat that begins with these turns. The bytes of their inline attachments are durable before its transaction. */
export async function createChat(
  { chats, blobs }: CreateChatDeps,
  integrationId: IntegrationId,
  input: NewChat,
  turns: readonly RequestTurn[],
  audit: Audit,
) {
  if (turns.length === 0) return chats.create(integrationId, input, audit);
  const inline = turns.flatMap(({ attachments }) => attachments.filter(isInline));
  const consumerId = input.consumerId ?? null;
  const owner = { integrationId, consumerId, check: (tx: Tx) => checkMember(tx, integrationId, consumerId) };
  const storeInline = () =>
    blobs.store(owner, inline).catch((error: unknown) => {
      throw error instanceof FactsChanged ? new Refusal('member_not_found') : error;
    });
  const stored = inline.length === 0 ? { byHash: new Map(), batch: null } : await storeInline();
  const attach: ImportedHistory['attach'] = async (tx, chat, ids) => {
    if (stored.batch !== null) await claimBlobs(tx, stored.batch);
    for (const [index, runId] of ids.entries()) {
      const attachments = turns[index]?.attachments ?? [];
      if (attachments.length > 0) await insertAttachments(tx, { ...chat, runId }, attachments, stored);
    }
  };
  try {
    return await chats.create(integrationId, input, audit, { turns, attach, isConflict });
  } catch (error) {
    await blobs.abandon(stored, error);
    throw error;
  }
}
