import { NotFoundError } from '@runwire/client';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { api } from './api.ts';

/** Integrations with fewer members need one request for all names. */
const FIRST_MEMBERS = 100;
const FRESH_MS = 60_000;

const firstNamesQuery = (apiIntegrationId: string) =>
  queryOptions({
    queryKey: ['member-names', apiIntegrationId],
    queryFn: async ({ signal }) => {
      const { items, nextCursor } = await api()
        .members.list({ apiIntegrationId, limit: FIRST_MEMBERS }, { signal })
        .page();
      return { names: new Map(items.map(({ consumerId, name }) => [consumerId, name])), isAll: nextCursor === null };
    },
    staleTime: FRESH_MS,
  });

const nameQuery = (apiIntegrationId: string, consumerId: string) =>
  queryOptions({
    queryKey: ['member-names', apiIntegrationId, consumerId],
    queryFn: async ({ signal }) => {
      try {
        return (await api().members.get({ apiIntegrationId, consumerId }, { signal })).name;
      } catch (error) {
        if (error instanceof NotFoundError) return null;
        throw error;
      }
    },
    staleTime: FRESH_MS,
  });

/** The name of a member; the id if it has none, or until it is known. */
export function useMemberName(integration: string, consumerId: string): string {
  const { data: first } = useQuery(firstNamesQuery(integration));
  const isFurther = first !== undefined && !first.isAll && !first.names.has(consumerId);
  const { data: further } = useQuery({ ...nameQuery(integration, consumerId), enabled: isFurther });
  return first?.names.get(consumerId) ?? further ?? consumerId;
}
