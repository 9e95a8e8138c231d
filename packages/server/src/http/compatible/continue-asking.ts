import { Refusal } from '../../domain/refusal.ts';
import type { CompatibleDeps } from './compatible-deps.ts';
import type { CompatibleCall } from './compatible-route.ts';
import type { CompatibleRequest } from './compatible-starts.ts';

type Answers = NonNullable<CompatibleRequest['answers']>;

/**
 * Gives the request the answers that its newest items are. If it names no chat, the open questions name it. If the
 * questions are not open, the request begins a new chat whose history has the outputs.
 */
export async function continueAsking(
  { chats }: Pick<CompatibleDeps, 'chats'>,
  { scope, request: { clientToken } }: Pick<CompatibleCall, 'scope' | 'request'>,
  given: CompatibleRequest,
  answers: Answers,
): Promise<CompatibleRequest> {
  if (answers.length === 0) return given;
  const chatId = given.chatId ?? clientToken?.chatId ?? null;
  if (chatId !== null) return (await exists(chats.get(scope, chatId))) ? { ...given, answers } : given;
  const asking = {
    integrationId: scope.integrationId,
    consumerId: clientToken === null ? given.consumerId : clientToken.consumerId,
  };
  const ids = answers.map(({ questionId }) => questionId);
  const found = await chats.findAsking(asking, ids);
  if (found === null) return given;
  return { ...given, chatId: found, answers, history: [], chatRules: { ...given.chatRules, isTransient: false } };
}

async function exists(read: Promise<unknown>): Promise<boolean> {
  try {
    await read;
    return true;
  } catch (error) {
    if (error instanceof Refusal && error.code === 'chat_not_found') return false;
    throw error;
  }
}
