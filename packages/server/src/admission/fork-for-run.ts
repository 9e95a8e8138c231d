import { copyChat } from '../chats/fork/copy-chat.ts';
import { type ForkPlan, planFork } from '../chats/fork/plan-fork.ts';
import type { KnownChat } from '../domain/admission/admission.ts';
import { type ChatKey, newChatKey, ownChatId } from '../domain/ids.ts';
import type { OpenQuestions } from '../domain/question/question.ts';
import { Refusal } from '../domain/refusal.ts';
import type { EarlierNodes } from '../store/earlier-nodes.ts';
import { askedCalls } from '../store/queries/asked-questions.ts';
import { lockChatByKey } from '../store/queries/attachment-copies.ts';
import { refusedPerson } from '../store/queries/erasures.ts';
import { replaceByFork, replacedChat } from '../store/queries/forks.ts';
import { first, type Reads, type Tx } from '../store/store.ts';
import { FactsChanged } from './check-member.ts';
import type { CompletionRequest } from './completion-request.ts';
import type { ForkStart } from './find-start.ts';

/**
 * Makes the fork in which a request continues, in the transaction that admits its run. Resolves to null if nothing would be
 * left out: then the request continues in the chat itself. Throws a `Refusal` if the chat does not have the run.
 */
export async function forkForRun(
  tx: Tx,
  request: CompletionRequest,
  { from, point, takesOver }: ForkStart,
  earlierNodes: EarlierNodes,
): Promise<KnownChat | null> {
  const { integrationId, consumerId } = request;
  if (request.rerun !== undefined) await checkRerun(tx, request, earlierNodes);
  await tx.all(lockChatByKey, { chatKey: from });
  const plan = await planFork(tx, from, point);
  if (plan.isWhole && takesOver !== null) return null;
  const now = Date.now();
  const chatKey = newChatKey();
  const taken = takesOver === null ? null : await takeOver(tx, from, chatKey, now);
  const questions = await withGivenIds(tx, plan, request);
  const fork = {
    chatKey,
    integrationId,
    consumerId,
    chatId: takesOver ?? ownChatId(chatKey),
    alias: taken?.alias ?? null,
    titleJson: taken?.title_json ?? null,
    metadataJson: taken?.metadata_json ?? null,
    createdAt: taken?.created_at ?? now,
    now,
    opensQuestions: false,
    isTransient: taken === null ? request.chatRules.isTransient : taken.transient === 1,
  };
  await copyChat(tx, { ...plan, questions }, fork);
  return {
    chatKey,
    chatId: fork.chatId,
    alias: null,
    knownAlias: fork.alias,
    numMessages: plan.numMessages,
    textBytes: plan.textBytes,
    questionsJson: questions === null ? null : JSON.stringify(questions),
  };
}

const OLD_NODE =
  'An earlier version still runs on a node, and it would charge a rerun; repeat the request after the upgrade.';
const RETRY_SECONDS = 30;

/** Throws a `Refusal` while an earlier version runs on a node. */
export function refuseBesideEarlier(earlierNodes: EarlierNodes): void {
  if (earlierNodes.areAlive()) throw new Refusal('unavailable', OLD_NODE, {}, RETRY_SECONDS);
}

/** An erasure begins with a lock that waits for this transaction, also if the member has no row. */
async function checkRerun(
  tx: Tx,
  { integrationId, consumerId }: CompletionRequest,
  earlierNodes: EarlierNodes,
): Promise<void> {
  refuseBesideEarlier(earlierNodes);
  if (consumerId === null || (await tx.all(refusedPerson, { integrationId, consumerId })).length === 0) return;
  throw new Refusal('chat_not_found', 'The member of this run is being erased.');
}

/** Gives the chat another id. Its old id, alias, title and metadata are then the fork's. */
async function takeOver(tx: Tx, chatKey: ChatKey, forkKey: ChatKey, now: number) {
  const chat = await first(tx.all(replacedChat, { chatKey }));
  const newChatId = ownChatId(newChatKey());
  if (chat === undefined || (await tx.run(replaceByFork, { chatKey, forkKey, newChatId, now })) !== 1) {
    throw new FactsChanged('The chat was deleted.');
  }
  return chat;
}

/** The caller knows the questions by the ids that they had in another chat. This run settles them all. */
async function withGivenIds(
  reads: Reads,
  { questions }: ForkPlan,
  { answers }: CompletionRequest,
): Promise<OpenQuestions | null> {
  if (questions === null || answers === null || answers.length === 0) return questions;
  const given = answers.map(({ questionId }) => questionId);
  const asked = await reads.query(askedCalls(questions.runId, given));
  const idOfCall = new Map(asked.map((row) => [JSON.parse(row.call_id_json) as string, row.question_id]));
  return {
    ...questions,
    questions: questions.questions.map((one) => ({ ...one, questionId: idOfCall.get(one.callId) ?? one.questionId })),
  };
}
