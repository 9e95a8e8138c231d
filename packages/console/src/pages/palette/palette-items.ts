import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useRouter } from '@tanstack/react-router';
import { useMemo } from 'react';
import { apiUrl, consoleUrl } from '../../app/addresses.ts';
import { useMenuPages } from '../../app/menu-choice.ts';
import { agenciesQuery, integrationsQuery, meQuery } from '../../app/queries.ts';
import { queryClient } from '../../app/query-client.ts';
import { lastIntegration, listRecentPages } from '../../app/recent-pages.ts';
import { setTheme, THEMES } from '../../app/theme.ts';
import { useSignOut } from '../../app/use-sign-out.ts';
import type { IconName } from '../../ui/icons.tsx';
import { mayCall } from '../../ui/may.tsx';
import { findById, hasKnownPrefix } from './find-by-id.ts';

export interface PaletteItem {
  readonly title: string;
  /** What distinguishes it from others of the same title. */
  readonly detail?: string | undefined;
  readonly icon: IconName;
  /** Resolves to a sentence if there is nothing to open. */
  readonly choose: (signal: AbortSignal) => unknown;
}

export interface PaletteGroup {
  readonly title: string;
  readonly items: readonly PaletteItem[];
}

const MAX_RECENT = 5;
/** More are found by typing more. */
const MAX_ITEMS = 12;

const CREATE = { create: '1' } as const;

/** Everything that can be opened and done, as it is now. */
function useAll(): readonly PaletteGroup[] {
  const navigate = useNavigate();
  const router = useRouter();
  const signOut = useSignOut();
  const { general, ofIntegration } = useMenuPages();
  const { integration: current } = useParams({ strict: false });
  const { data: me } = useQuery(meQuery);
  const { data: integrations = [] } = useQuery(integrationsQuery);
  const { data: agencies = [] } = useQuery(agenciesQuery);
  const integration = current ?? lastIntegration() ?? integrations[0]?.apiIntegrationId;
  const detail = integrations.find(({ apiIntegrationId }) => apiIntegrationId === integration)?.name ?? integration;

  const recent = listRecentPages()
    .filter(({ path }) => !location.pathname.endsWith(`/${path.replace(/\?.*$/, '')}`))
    .slice(0, MAX_RECENT)
    .map(
      ({ path, title }): PaletteItem => ({
        title,
        detail: /^integrations\/([^/?]+)/.exec(path)?.[1],
        icon: 'recent',
        choose: () => router.history.push(consoleUrl.pathname + path),
      }),
    );
  const pages = [
    ...(integration === undefined ? [] : ofIntegration).map(
      ({ title, to, icon }): PaletteItem => ({
        title,
        detail,
        icon,
        choose: () => navigate({ to, params: { integration: integration ?? '' } }),
      }),
    ),
    ...general.map(({ title, to, icon }): PaletteItem => ({ title, icon, choose: () => navigate({ to }) })),
  ];
  const params = { integration: integration ?? '' };
  const creations = [
    {
      call: 'createApiKey',
      title: 'Create a key',
      choose: () => navigate({ to: '/keys', search: CREATE }),
    },
    {
      call: 'createIntegration',
      title: 'Create an integration',
      choose: () => navigate({ to: '/integrations', search: CREATE }),
    },
    {
      call: 'createPerson',
      title: 'Invite a person',
      choose: () => navigate({ to: '/people', search: CREATE }),
    },
    {
      call: 'putMember',
      title: 'Register a member',
      detail,
      choose: () => navigate({ to: '/integrations/$integration/members', params, search: CREATE }),
    },
    {
      call: 'createSchedule',
      title: 'Create a schedule',
      detail,
      choose: () => navigate({ to: '/integrations/$integration/schedules', params, search: CREATE }),
    },
    {
      call: 'createWebhook',
      title: 'Add a webhook endpoint',
      detail,
      choose: () => navigate({ to: '/integrations/$integration/webhooks', params, search: CREATE }),
    },
  ] as const;
  const actions = [
    ...creations
      .filter(({ call, ...creation }) => mayCall(me, call) && (integration !== undefined || !('detail' in creation)))
      .map((creation): PaletteItem => ({ icon: 'action', ...creation })),
    ...THEMES.map(
      (theme): PaletteItem => ({
        title: `Switch theme: ${theme === 'system' ? 'as the system' : theme}`,
        icon: 'action',
        choose: () => setTheme(theme),
      }),
    ),
    {
      title: 'Open the API reference',
      icon: 'action',
      choose: () => open(new URL('docs', apiUrl), '_blank', 'noreferrer'),
    },
    { title: 'Sign out', icon: 'action', choose: signOut },
  ] satisfies readonly PaletteItem[];
  return [
    { title: 'Recently visited', items: recent },
    { title: 'Pages', items: pages },
    { title: 'Actions', items: actions },
    {
      title: 'Integrations',
      items: integrations.map(({ apiIntegrationId, name }) => ({
        title: name ?? apiIntegrationId,
        detail: apiIntegrationId,
        icon: 'integrations',
        choose: () => navigate({ to: '/integrations/$integration', params: { integration: apiIntegrationId } }),
      })),
    },
    {
      title: 'Agencies',
      items: agencies.map(({ agency, name }) => ({
        title: name ?? agency,
        detail: agency,
        icon: 'agencies',
        choose: () => navigate({ to: '/agencies/$agency', params: { agency } }),
      })),
    },
  ];
}

/** The integrations in which an id is looked for, in this order. They may not be read yet. */
async function listPlaces(current: string | undefined): Promise<readonly string[]> {
  const known = (await queryClient.ensureQueryData(integrationsQuery)).map(({ apiIntegrationId }) => apiIntegrationId);
  const first = [current, lastIntegration()].filter((id) => id !== undefined && known.includes(id));
  return [...new Set([...first, ...known])] as readonly string[];
}

/** What a pasted id or path leads to. Empty if the text is neither. */
function usePasted(text: string): readonly PaletteItem[] {
  const navigate = useNavigate();
  const { integration: current } = useParams({ strict: false });
  if (text === '' || /\s/.test(text)) return [];
  if (text.startsWith('/')) {
    const search = { folder: text.slice(0, text.lastIndexOf('/')), file: text };
    const open = async () => {
      const [integration = ''] = await listPlaces(current);
      await navigate({ to: '/integrations/$integration/files', params: { integration }, search });
    };
    return [{ title: `Open the file ${text}`, icon: 'files', choose: open }];
  }
  if (text.startsWith('key_')) {
    const choose = () => navigate({ to: '/keys', search: { key: text } });
    return [{ title: `Open the key ${text}`, icon: 'keys', choose }];
  }
  const find = async (signal: AbortSignal) => {
    const found = await findById(text, await listPlaces(current), signal);
    if (found === null) return `No integration has ${text}.`;
    await found.open(navigate);
    return undefined;
  };
  return [{ title: `Find the id ${text}`, detail: 'runs, chats, members', icon: 'search', choose: find }];
}

const includes = (words: readonly string[], { title, detail = '' }: PaletteItem): boolean => {
  const text = `${title} ${detail}`.toLowerCase();
  return words.every((word) => text.includes(word));
};

/** What the palette shows for this text, best first. */
export function usePaletteItems(typed: string): readonly PaletteGroup[] {
  const text = typed.trim();
  const pasted = usePasted(text);
  const all = useAll();
  // biome-ignore lint/correctness/useExhaustiveDependencies: what can be opened does not change while it is open.
  return useMemo(() => {
    if (text === '') return all.slice(0, 3).filter(({ items }) => items.length > 0);
    const words = text.toLowerCase().split(/\s+/);
    const matching = all
      .map(({ title, items }) => ({ title, items: items.filter((item) => includes(words, item)).slice(0, MAX_ITEMS) }))
      .filter(({ items }) => items.length > 0);
    const ids = pasted.length === 0 ? [] : [{ title: 'By id', items: pasted }];
    const isId = text.startsWith('/') || text.startsWith('key_') || hasKnownPrefix(text);
    return isId ? [...ids, ...matching] : [...matching, ...ids];
  }, [text, all.map(({ items }) => items.length).join(), pasted.length]);
}
