import { type Chat, NotFoundError } from '@runwire/client';
import { queryOptions } from '@tanstack/react-query';
import { api } from '../../app/api.ts';
import { measured, pollMs } from '../../app/traffic.ts';

const ACTIVE_REFETCH_MS = 2000;
/** Another tab or another program may continue the chat. */
const IDLE_REFETCH_MS = 5000;
const LAST_MESSAGES = 6;

export const chatQuery = (apiIntegrationId: string, chatId: string) =>
  queryOptions({
    queryKey: ['chats', apiIntegrationId, chatId],
    queryFn: ({ queryKey, signal }) =>
      measured(queryKey, () => api().chats.get({ apiIntegrationId, chatId }, { signal })),
    refetchInterval: ({ queryKey, state: { data, error } }) => {
      if (data === undefined || error instanceof NotFoundError) return false;
      return pollMs([queryKey], data.status === 'running' ? ACTIVE_REFETCH_MS : IDLE_REFETCH_MS);
    },
  });

/** What tools keep in the chat. It is read again when the chat has changed, and again and again while a run may change it. */
export const chatStateQuery = (apiIntegrationId: string, chatId: string, chat: Chat | undefined) =>
  queryOptions({
    queryKey: ['chats', apiIntegrationId, chatId, 'state', chat?.updatedAt],
    queryFn: ({ queryKey, signal }) =>
      measured(queryKey, () => api().chats.state({ apiIntegrationId, chatId }, { signal })),
    enabled: chat !== undefined,
    placeholderData: (previous, query) => (query?.queryKey[2] === chatId ? previous : undefined),
    refetchInterval: ({ queryKey }) => chat?.status === 'running' && pollMs([queryKey], ACTIVE_REFETCH_MS),
  });

/** The last messages of a chat, oldest first. They are read again when the chat has changed. */
export const lastMessagesQuery = (apiIntegrationId: string, chatId: string, updatedAt: string) =>
  queryOptions({
    queryKey: ['chats', apiIntegrationId, chatId, 'last', updatedAt],
    queryFn: async ({ signal }) => {
      const page = await api().chats.messages({ apiIntegrationId, chatId, limit: LAST_MESSAGES }, { signal }).page();
      return { messages: page.items.toReversed(), hasMore: page.nextCursor !== null };
    },
    staleTime: 60_000,
  });
