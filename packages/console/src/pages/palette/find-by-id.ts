import { RunwireError } from '@runwire/client';
import type { useNavigate } from '@tanstack/react-router';
import { api } from '../../app/api.ts';

export type Navigate = ReturnType<typeof useNavigate>;

interface FoundRecord {
  readonly open: (navigate: Navigate) => Promise<void>;
}

/** What an integration has by this id. Null if it has nothing. */
type Look = (integration: string, id: string, signal: AbortSignal) => Promise<FoundRecord | null>;

const run: Look = async (apiIntegrationId, runId, signal) => {
  await api().runs.get({ apiIntegrationId, runId }, { signal });
  const params = { integration: apiIntegrationId, run: runId };
  return { open: (navigate) => navigate({ to: '/integrations/$integration/runs/$run', params }) };
};

const chat: Look = async (apiIntegrationId, chatId, signal) => {
  await api().chats.get({ apiIntegrationId, chatId }, { signal });
  const params = { integration: apiIntegrationId, chat: chatId };
  return { open: (navigate) => navigate({ to: '/integrations/$integration/chats/$chat', params }) };
};

const member: Look = async (apiIntegrationId, consumerId, signal) => {
  await api().members.get({ apiIntegrationId, consumerId }, { signal });
  const params = { integration: apiIntegrationId, member: consumerId };
  return { open: (navigate) => navigate({ to: '/integrations/$integration/members/$member', params }) };
};

const schedule: Look = async (apiIntegrationId, scheduleId, signal) => {
  await api().schedules.get({ apiIntegrationId, scheduleId }, { signal });
  const params = { integration: apiIntegrationId, schedule: scheduleId };
  return { open: (navigate) => navigate({ to: '/integrations/$integration/schedules/$schedule', params }) };
};

const endpoint: Look = async (apiIntegrationId, endpointId, signal) => {
  await api().webhooks.get({ apiIntegrationId, endpointId }, { signal });
  const params = { integration: apiIntegrationId, endpoint: endpointId };
  return { open: (navigate) => navigate({ to: '/integrations/$integration/webhooks/$endpoint', params }) };
};

/** A run whose request had this id. */
const request: Look = async (apiIntegrationId, usageRequestId, signal) => {
  const { items } = await api().usage.list({ apiIntegrationId, usageRequestId, limit: 1 }, { signal }).page();
  const record = items.find((item) => item.kind === 'run');
  return record === undefined ? null : run(apiIntegrationId, record.runId, signal);
};

/** The ids that the server makes begin like this. Callers choose other ids of chats, members and requests. */
const BY_PREFIX: Readonly<Record<string, readonly Look[]>> = {
  run_: [run],
  chat_: [chat],
  sch_: [schedule],
  whe_: [endpoint],
};
const CHOSEN_BY_CALLERS: readonly Look[] = [chat, member, request];

const listLooks = (id: string): readonly Look[] => {
  const prefix = Object.keys(BY_PREFIX).find((known) => id.startsWith(known));
  return BY_PREFIX[prefix ?? ''] ?? CHOSEN_BY_CALLERS;
};

/** True if the server made the id, unless the caller imitated it. */
export const hasKnownPrefix = (text: string): boolean => Object.keys(BY_PREFIX).some((known) => text.startsWith(known));

/** Ids that the integration refuses, or does not have, are answered with 4xx. */
const isAbsent = (error: unknown): boolean =>
  error instanceof RunwireError && [400, 403, 404].includes(error.status ?? 0);

/** Looks in one integration after the other, in this order. Resolves to null if none has it. */
export async function findById(
  id: string,
  integrations: readonly string[],
  signal: AbortSignal,
): Promise<FoundRecord | null> {
  for (const integration of integrations) {
    const looks = listLooks(id).map((look) =>
      look(integration, id, signal).catch((error: unknown) => {
        if (isAbsent(error)) return null;
        throw error;
      }),
    );
    const found = (await Promise.all(looks)).find((one) => one !== null);
    if (found !== undefined) return found;
  }
  return null;
}
