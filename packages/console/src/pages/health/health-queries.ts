import { ConnectionLostError, type Readiness, RunwireError, type ServiceNode } from '@runwire/client';
import { queryOptions } from '@tanstack/react-query';
import { apiUrl } from '../../app/addresses.ts';
import { api } from '../../app/api.ts';

const REFRESH_MS = 5000;

export const nodesQuery = queryOptions({
  queryKey: ['nodes'],
  queryFn: ({ signal }) => Array.fromAsync<ServiceNode>(api().nodes.list({ limit: 200 }, { signal })),
  refetchInterval: REFRESH_MS,
});

/** The node that answers decides. It needs no token, so the client has no method for it. */
async function fetchReadiness(signal: AbortSignal): Promise<Readiness> {
  let answer: Response;
  let fields: Readonly<Record<string, unknown>>;
  try {
    answer = await fetch(new URL('readyz', apiUrl), { cache: 'no-store', signal });
    fields = await answer.json();
  } catch (error) {
    signal.throwIfAborted();
    throw new ConnectionLostError(null, 'connection_lost', 'The server did not answer.', error);
  }
  if (answer.ok) return fields as unknown as Readiness;
  throw new RunwireError({
    code: fields.code as RunwireError['code'],
    message: String(fields.error),
    status: answer.status,
    requestId: answer.headers.get('x-request-id'),
  });
}

export const readinessQuery = queryOptions({
  queryKey: ['readiness'],
  queryFn: ({ signal }) => fetchReadiness(signal),
  refetchInterval: REFRESH_MS,
});
