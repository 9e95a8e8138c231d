import { queryOptions } from '@tanstack/react-query';
import { api } from '../../app/api.ts';
import type { EarlierFiles } from '../transcript/turn.ts';

/** An earlier run's request, to be tried again. */
export interface RepeatedMessage extends EarlierFiles {
  readonly runId: string;
  readonly text: string;
  readonly member: string | undefined;
  readonly agent: string;
}

/** A chat has this many messages that are looked at. */
const MAX_MESSAGES = 1000;

async function findMessage(apiIntegrationId: string, runId: string, signal: AbortSignal): Promise<RepeatedMessage> {
  const { chatId, consumerId, agent } = await api().runs.get({ apiIntegrationId, runId }, { signal });
  const found = { runId, member: consumerId ?? undefined, agent };
  let count = 0;
  for await (const message of api().chats.messages({ apiIntegrationId, chatId, limit: 200 }, { signal })) {
    if (message.runId === runId && message.role === 'user') {
      const { content, sandboxFiles, attachments } = message;
      return { ...found, text: content, files: sandboxFiles, attachments };
    }
    count += 1;
    if (count === MAX_MESSAGES) break;
  }
  return { ...found, text: '', files: [], attachments: [] };
}

export const repeatedMessageQuery = (apiIntegrationId: string, runId: string | undefined) =>
  queryOptions({
    queryKey: ['runs', apiIntegrationId, runId, 'message'],
    queryFn: ({ signal }) => findMessage(apiIntegrationId, runId ?? '', signal),
    enabled: runId !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
