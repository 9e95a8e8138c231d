import { queryOptions } from '@tanstack/react-query';
import { api } from '../../app/api.ts';
import { measured, pollMs } from '../../app/traffic.ts';
import { isActive } from '../runs/run-state.ts';

const POLL_MS = 2000;

/** Two runs with their steps side by side. */
export const comparisonQuery = (apiIntegrationId: string, left: string, right: string) =>
  queryOptions({
    queryKey: ['runs', apiIntegrationId, left, 'compare', right],
    queryFn: ({ queryKey, signal }) =>
      measured(queryKey, async () => {
        const compared = await api().runs.compare({ apiIntegrationId, runId: left, with: right }, { signal });
        const [first, second] = compared.runs;
        if (first === undefined || second === undefined) throw new Error('A comparison has two runs.');
        return { ...compared, runs: [first, second] as const };
      }),
    refetchInterval: ({ queryKey, state: { data } }) =>
      data?.runs.some(isActive) === true && pollMs([queryKey], POLL_MS),
  });

export type Comparison = Awaited<ReturnType<NonNullable<ReturnType<typeof comparisonQuery>['queryFn']>>>;
