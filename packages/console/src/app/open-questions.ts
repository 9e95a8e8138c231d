import { queryOptions, useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { api } from './api.ts';
import { measured, pollMs } from './traffic.ts';
import { showOpenQuestions } from './window-title.ts';

/** Everything that was read of questions has a key that begins with this. */
export const QUESTIONS_KEY = ['questions'] as const;

const REFETCH_MS = 15_000;
const MAX_COUNTED = 100;

const openCountQuery = queryOptions({
  queryKey: [...QUESTIONS_KEY, 'count'],
  queryFn: ({ queryKey, signal }) =>
    measured(queryKey, async () => {
      const { items, nextCursor } = await api()
        .questions.list({ state: 'open', limit: MAX_COUNTED }, { signal })
        .page();
      return nextCursor === null ? String(items.length) : `${items.length}+`;
    }),
  refetchInterval: ({ queryKey }) => pollMs([queryKey], REFETCH_MS),
  // A tab in the background shows the number in its title.
  refetchIntervalInBackground: true,
});

/** How many questions wait for an answer, in all integrations, such as `3` or `100+`. Empty if none does. */
export function useOpenQuestions(): string {
  const { data = '0' } = useQuery(openCountQuery);
  const count = data === '0' ? '' : data;
  useEffect(() => {
    showOpenQuestions(count);
    return () => showOpenQuestions('');
  }, [count]);
  return count;
}
