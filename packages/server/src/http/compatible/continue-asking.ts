import type { CompatibleDeps } from './compatible-deps.ts';
import type { CompatibleCall } from './compatible-route.ts';
import type { CompatibleRequest } from './compatible-starts.ts';
import { findChat } from './find-chat.ts';

type Answers = NonNullable<CompatibleRequest['answers']>;

/**
 * Gives the request the answers that its newest items are. If it names no chat, the open questions name it. If the
 * questions are not open, the request begins a new chat whose history has the outputs.
 */
export async function continueAsking(
  deps: Pick<CompatibleDeps, 'chats'>,
  call: Pick<CompatibleCall, 'scope' | 'request'>,
  given: CompatibleRequest,
  answers: Answers,
): Promise<CompatibleRequest> {
  if (answers.length === 0) return given;
  const { scope, request } = call;
  const { clientToken } = request;
  const chatId = given.chatId ?? clientToken?.chatId ?? null;
  if (chatId !== null) return (await findChat(deps, call, chatId)) === null ? given : { ...given, answers };
  const asking = {
    integrationId: scope.integrationId,
    consumerId: clientToken === null ? given.consumerId : clientToken.consumerId,
  };
  const ids = answers.map(({ questionId }) => questionId);
  const found = await deps.chats.findAsking(asking, ids);
  if (found === null) return given;
  return { ...given, chatId: found, answers, history: [], chatRules: { ...given.chatRules, isTransient: false } };
}
