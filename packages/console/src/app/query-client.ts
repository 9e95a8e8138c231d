import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { connection } from './connection.ts';
import { isSessionEnded } from './session.ts';

/** Set by the router, which knows the page to return to. */
export const sessionEnd = { handle: () => {} };

/** The one place that sees every error of the API. What it does not handle is shown by the page that asked. */
export function noteError(error: unknown): void {
  if (isSessionEnded(error)) sessionEnd.handle();
  else connection.noteError(error);
}

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: noteError }),
  mutationCache: new MutationCache({ onError: noteError }),
  defaultOptions: {
    // `packages/client` retries what may be retried. Forms have passwords, so what they sent is forgotten immediately.
    queries: { retry: false, networkMode: 'always', staleTime: 5_000, refetchOnWindowFocus: true },
    mutations: { retry: false, networkMode: 'always', gcTime: 0 },
  },
});

/** Runs a change outside a component, so that its errors are seen in the one place too. Its result is not kept. */
export const runMutation = <Result>(mutationFn: () => Promise<Result>): Promise<Result> =>
  queryClient
    .getMutationCache()
    .build<Result, Error, undefined, unknown>(queryClient, { mutationFn, gcTime: 0 })
    .execute(undefined);
