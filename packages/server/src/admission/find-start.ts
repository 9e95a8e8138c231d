import type { ForkPoint } from '../chats/fork/plan-fork.ts';
import { isVisible } from '../domain/account/scope.ts';
import type { AdmissionFactsRow } from '../domain/admission/admission.ts';
import type { ChatId, ChatKey } from '../domain/ids.ts';
import { Refusal } from '../domain/refusal.ts';
import { chatOfRun } from '../store/queries/forks.ts';
import { first, type Reads } from '../store/store.ts';
import type { CompletionRequest, EvalStart } from './completion-request.ts';

/** The request continues in a fork. */
export interface ForkStart {
  readonly from: ChatKey;
  readonly point: ForkPoint;
  /** The id that the fork takes over of the other chat. Null if it gets an own id. */
  readonly takesOver: ChatId | null;
}

/** The request continues at the end of this chat. */
export interface ChatStart {
  readonly chatId: ChatId;
}

/** True if the request may continue in a fork. */
export const namesRun = ({ chatRules: { afterRunId, replacesEnd }, rerun }: CompletionRequest): boolean =>
  afterRunId !== null || replacesEnd !== null || (rerun !== undefined && !isEval(rerun));

/** True if the run is for an eval. It begins a new chat. */
export const isEval = (rerun: CompletionRequest['rerun']): rerun is EvalStart =>
  rerun !== undefined && !(rerun instanceof Refusal) && rerun.from === null;

/** Finds the chat of a request whose rules name a run. Null if the request names a chat that does not exist, or a busy one. */
export async function findStart(
  reads: Reads,
  { integrationId, consumerId, member, chatId, chatRules, rerun }: CompletionRequest,
  facts: AdmissionFactsRow,
): Promise<ChatStart | ForkStart | Refusal | null> {
  if (rerun instanceof Refusal) return rerun;
  if (rerun !== undefined && rerun.from !== null)
    return { from: rerun.from, point: { at: 'before', runId: rerun.runId }, takesOver: null };
  const { afterRunId, replacesEnd } = chatRules;
  if (afterRunId !== null) {
    const row = await first(reads.all(chatOfRun, { integrationId, consumerId, runId: afterRunId }));
    if (row === undefined || !isVisible(member, consumerId, row.chat_id)) {
      return new Refusal('run_not_found', 'This consumer has no such run, or its chat was deleted; start a new chat.');
    }
    if (row.newest_run_id === row.run_id) return { chatId: row.chat_id };
    if (member !== null && member.chatId !== null) {
      return new Refusal('token_forbidden', 'The client token is for one chat; continue after its newest run.');
    }
    return { from: row.chat_key, point: { at: 'after', runId: afterRunId }, takesOver: null };
  }
  if (replacesEnd === null || facts.chat_key === null || facts.busy_run_id !== null) return null;
  const { after } = replacesEnd;
  const point: ForkPoint = after === null ? { at: 'before-first-run' } : { at: 'after', runId: after };
  return { from: facts.chat_key, point, takesOver: chatId };
}
