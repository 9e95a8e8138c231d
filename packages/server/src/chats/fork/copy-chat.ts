import type { ChatId, ChatKey, IntegrationId } from '../../domain/ids.ts';
import { Refusal } from '../../domain/refusal.ts';
import { useBlobsOfChat } from '../../store/queries/attachments.ts';
import { copyStates } from '../../store/queries/chat-states.ts';
import { jsonPaths } from '../../store/queries/file-batches.ts';
import {
  announceFiles,
  copyAttachments,
  copyMessages,
  insertFork,
  lostBlobOfChat,
  nodeWithoutForks,
} from '../../store/queries/forks.ts';
import { shareRuns } from '../../store/queries/shared-runs.ts';
import { insertTransientMark } from '../../store/queries/transient-chats.ts';
import { first, type Tx } from '../../store/store.ts';
import { recordQuestions } from './find-questions.ts';
import type { ForkPlan } from './plan-fork.ts';

/** The other chat was deleted since the fork was planned, or a sweep has deleted one blob: plan it again. */
export class SourceChanged extends Error {
  override readonly name = 'SourceChanged';
}

export interface NewFork {
  readonly chatKey: ChatKey;
  readonly integrationId: IntegrationId;
  readonly chatId: ChatId;
  readonly alias: string | null;
  readonly consumerId: string | null;
  readonly titleJson: string | null;
  readonly metadataJson: string | null;
  readonly createdAt: number;
  readonly now: number;
  readonly isTransient: boolean;
  /** False if a run settles the questions in the same transaction. */
  readonly opensQuestions: boolean;
}

const OLD_NODE =
  'An earlier version still runs on a node, and it would delete what forks share; repeat the request after the upgrade.';
const RETRY_SECONDS = 30;

/**
 * Writes the fork. The other chat's row is locked, so that neither its messages nor its attachments are deleted before the
 * commit. Large things are shared: blobs by the rows that refer to them, steps by the run. Resolves to how many
 * attachments the fork has.
 */
export async function copyChat(tx: Tx, plan: ForkPlan, fork: NewFork): Promise<number> {
  const { from, numMessages, questions, paths } = plan;
  const { chatKey } = fork;
  if ((await tx.all(nodeWithoutForks, {})).length > 0) {
    throw new Refusal('unavailable', OLD_NODE, {}, RETRY_SECONDS);
  }
  await tx.run(insertFork, {
    chat_key: chatKey,
    integration_id: fork.integrationId,
    chat_id: fork.chatId,
    alias: fork.alias,
    consumer_id: fork.consumerId,
    num_messages: numMessages,
    text_bytes: plan.textBytes,
    title_json: fork.titleJson,
    metadata_json: fork.metadataJson,
    questions_json: questions === null ? null : JSON.stringify(questions),
    asking_run_id: questions?.runId ?? null,
    summary_run_id: plan.summaryRunId,
    transient: fork.isTransient ? 1 : 0,
    forked_from: from,
    forked_run_id: plan.runId,
    created_at: fork.createdAt,
    updated_at: fork.now,
  });
  if (fork.isTransient) await tx.run(insertTransientMark, { chat_key: chatKey, due_at: fork.now });
  if (numMessages === 0) return 0;
  const copied = await tx.run(copyMessages, { chatKey: from, forkKey: chatKey, before: numMessages + 1 });
  if (copied !== numMessages) throw new SourceChanged('The messages of the chat were deleted.');
  await tx.run(shareRuns, { chatKey: from, forkKey: chatKey });
  await tx.run(copyStates, { chatKey: from, forkKey: chatKey, upTo: plan.statesUpTo });
  const attachments = await tx.run(copyAttachments, { chatKey: from, forkKey: chatKey });
  if (attachments > 0) {
    await tx.run(useBlobsOfChat, { chatKey });
    const lost = await first(tx.all(lostBlobOfChat, { chatKey }));
    if (lost !== undefined) throw new SourceChanged('A blob of the chat was deleted.');
  }
  if (paths.length > 0) await tx.run(announceFiles, { chatKey, paths: jsonPaths(paths) });
  if (questions !== null && fork.opensQuestions) await recordQuestions(tx, fork, questions);
  return attachments;
}
