import type { RunRecord, RunUsageRecord, Step } from '@runwire/client';
import { queryOptions } from '@tanstack/react-query';
import { api } from '../../app/api.ts';
import { isActive } from './run-state.ts';

/** A run with its finished steps, oldest first. */
export interface RunWithSteps {
  readonly run: RunRecord;
  readonly steps: readonly Step[];
}

const POLL_MS = 1000;
const POLL_SLOWLY_MS = 3000;

export const runQuery = (apiIntegrationId: string, runId: string) =>
  queryOptions({
    queryKey: ['runs', apiIntegrationId, runId],
    queryFn: async ({ signal }): Promise<RunWithSteps> => {
      // The run is read first: if it has ended, then all its steps are stored.
      const run = await api().runs.get({ apiIntegrationId, runId }, { signal });
      if (run.chatDeleted) return { run, steps: [] };
      const steps = await Array.fromAsync(api().runs.steps({ apiIntegrationId, runId, limit: 200 }, { signal }));
      return { run, steps: steps.reverse() };
    },
    refetchInterval: ({ state: { data, error } }) => {
      if (data === undefined || !isActive(data.run)) return false;
      return error === null && data.steps.length < 200 ? POLL_MS : POLL_SLOWLY_MS;
    },
  });

/** The usage record of a run, which has its charge. */
export const chargeQuery = ({ apiIntegrationId, runId, usageRequestId, createdAt, status }: RunRecord) =>
  queryOptions({
    queryKey: ['usage', apiIntegrationId, 'run', runId, status],
    queryFn: async ({ signal }): Promise<RunUsageRecord | null> => {
      const to = new Date(Date.parse(createdAt) + 1).toISOString();
      // A run without an id of its request is found by its time.
      const filter = usageRequestId === null ? { from: createdAt, to } : { usageRequestId };
      const { items } = await api()
        .usage.list({ apiIntegrationId, limit: 200, ...filter }, { signal })
        .page();
      return items.find((record): record is RunUsageRecord => record.kind === 'run' && record.runId === runId) ?? null;
    },
  });

/** The message that started a run. Null if it is not among the newest messages of the chat. */
export const inputQuery = ({ apiIntegrationId, runId, chatId }: RunRecord) =>
  queryOptions({
    queryKey: ['chats', apiIntegrationId, chatId, 'input', runId],
    queryFn: async ({ signal }) => {
      const { items } = await api().chats.messages({ apiIntegrationId, chatId, limit: 50 }, { signal }).page();
      return items.find((message) => message.runId === runId && message.role === 'user') ?? null;
    },
    staleTime: 60_000,
  });
