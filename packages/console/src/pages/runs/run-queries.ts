import type { Message, RunRecord, Step } from '@runwire/client';
import { queryOptions } from '@tanstack/react-query';
import { api } from '../../app/api.ts';
import { measured, pollMs } from '../../app/traffic.ts';
import { isActive } from './run-state.ts';

/** A run with its finished steps, oldest first. */
interface RunWithSteps {
  readonly run: RunRecord;
  readonly steps: readonly Step[];
}

const POLL_MS = 1000;

export const runQuery = (apiIntegrationId: string, runId: string) =>
  queryOptions({
    queryKey: ['runs', apiIntegrationId, runId],
    queryFn: ({ queryKey, signal }): Promise<RunWithSteps> =>
      measured(queryKey, async () => {
        // The run is read first: if it has ended, then all its steps are stored.
        const run = await api().runs.get({ apiIntegrationId, runId }, { signal });
        if (run.chatDeleted) return { run, steps: [] };
        const steps = await Array.fromAsync(api().runs.steps({ apiIntegrationId, runId, limit: 200 }, { signal }));
        return { run, steps: steps.reverse() };
      }),
    refetchInterval: ({ queryKey, state: { data, error } }) => {
      if (data === undefined || !isActive(data.run)) return false;
      return pollMs([queryKey], error === null ? POLL_MS : 3 * POLL_MS);
    },
  });

const MAX_RERUNS = 10;

/** The newest reruns of a run. */
export const rerunsQuery = ({ apiIntegrationId, runId }: Pick<RunRecord, 'apiIntegrationId' | 'runId'>) =>
  queryOptions({
    queryKey: ['runs', apiIntegrationId, runId, 'reruns'],
    queryFn: ({ queryKey, signal }) =>
      measured(queryKey, () =>
        api().runs.list({ apiIntegrationId, rerunOf: runId, texts: false, limit: MAX_RERUNS }, { signal }).page(),
      ),
    refetchInterval: ({ queryKey, state: { data } }) =>
      data?.items.some(isActive) === true && pollMs([queryKey], 3 * POLL_MS),
  });

/** What a model was sent in a step of a run. It never changes, except for `exact`. */
export const promptQuery = (apiIntegrationId: string, runId: string, step: number) =>
  queryOptions({
    queryKey: ['runs', apiIntegrationId, runId, 'prompt', step],
    queryFn: ({ signal }) => api().runs.prompt({ apiIntegrationId, runId, step }, { signal }),
    staleTime: 60_000,
  });

/** What started a run. */
type RunInputMessage = Pick<Message, 'content' | 'attachments' | 'sandboxFiles'>;

/** The message that started a run. Null if it cannot be found while the run is active. */
export const inputQuery = (run: RunRecord) =>
  queryOptions({
    queryKey: ['chats', run.apiIntegrationId, run.chatId, 'input', run.runId, isActive(run)],
    queryFn: async ({ signal }): Promise<RunInputMessage | null> => {
      const { apiIntegrationId, chatId, runId } = run;
      const { items } = await api().chats.messages({ apiIntegrationId, chatId, limit: 50 }, { signal }).page();
      const message = items.find((one) => one.runId === runId && one.role === 'user');
      if (message !== undefined || isActive(run)) return message ?? null;
      // It is further back in the chat. An ended run's events have its text.
      const { newMessages } = await api()
        .attach({ ...run, lastEventId: 0 }, { signal })
        .result();
      const sent = newMessages.find((item) => item.type === 'message' && item.role === 'user');
      const content = typeof sent?.content === 'string' ? sent.content : '';
      return { content, attachments: [], sandboxFiles: [] };
    },
    staleTime: 60_000,
  });
