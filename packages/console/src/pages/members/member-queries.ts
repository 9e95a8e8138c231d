import { NotFoundError } from '@runwire/client';
import { queryOptions } from '@tanstack/react-query';
import { api } from '../../app/api.ts';

/** The allowance of a member changes while its runs end. */
const REFRESH_MS = 10_000;
const ERASURE_REFRESH_MS = 1_000;

export const memberQuery = (apiIntegrationId: string, consumerId: string) =>
  queryOptions({
    queryKey: ['members', apiIntegrationId, consumerId],
    queryFn: ({ signal }) => api().members.get({ apiIntegrationId, consumerId }, { signal }),
    refetchInterval: ({ state }) => (state.status === 'success' ? REFRESH_MS : false),
  });

export const erasureQuery = (apiIntegrationId: string, consumerId: string) =>
  queryOptions({
    queryKey: ['erasures', apiIntegrationId, consumerId],
    queryFn: ({ signal }) => api().members.erasure({ apiIntegrationId, consumerId }, { signal }),
    refetchInterval: ({ state }) => (state.data?.status === 'erasing' ? ERASURE_REFRESH_MS : false),
  });

/** True if no member has the id. An error about the integration is something else. */
export const isMemberMissing = (error: unknown): boolean =>
  error instanceof NotFoundError && error.code === 'member_not_found';
