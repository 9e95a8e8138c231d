import type { ChatId, ChatKey, OwnerId, RunId } from '@runwire/server/src/domain/ids.ts';

/** Ids that a test chooses. */
export const testRunId = (id: string): RunId => id as RunId;
export const testChatKey = (key: string): ChatKey => key as ChatKey;
export const testChatId = (id: string): ChatId => id as ChatId;
export const testOwnerId = (id: string): OwnerId => id as OwnerId;
