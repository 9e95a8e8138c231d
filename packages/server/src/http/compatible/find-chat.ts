import { Refusal } from '../../domain/refusal.ts';
import type { CompatibleDeps } from './compatible-deps.ts';
import type { CompatibleCall } from './compatible-route.ts';

/** Reads a chat. Resolves to null if it does not exist, or is not visible to the caller. */
export async function findChat(
  { chats }: Pick<CompatibleDeps, 'chats'>,
  { scope }: Pick<CompatibleCall, 'scope'>,
  chatId: string,
) {
  try {
    return await chats.get(scope, chatId);
  } catch (error) {
    if (error instanceof Refusal && error.code === 'chat_not_found') return null;
    throw error;
  }
}
