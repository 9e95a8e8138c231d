import type { IconName } from '../ui/icons.tsx';
import type { Call } from '../ui/may.tsx';

/* The pages in the menu, which the palette offers too. */

interface MenuPage<To extends string> {
  readonly title: string;
  readonly to: To;
  readonly icon: IconName;
  /** The operation without which the page has nothing to show. Absent if every role has something to see there. */
  readonly call?: Call;
  readonly isForAdministrators?: true;
  /** Typed after `g` to open the page. */
  readonly key?: string;
}

const menuPages = <const To extends string>(...pages: readonly MenuPage<To>[]) => pages;

export const WORK = menuPages(
  { title: 'Home', to: '/', icon: 'home', key: 'h' },
  { title: 'Approvals', to: '/approvals', icon: 'approvals', key: 'a' },
);

export const AGENTS = menuPages(
  { title: 'Integrations', to: '/integrations', icon: 'integrations', key: 'i' },
  { title: 'Agencies', to: '/agencies', icon: 'agencies', key: 'g' },
);

export const ORGANISATION = menuPages(
  { title: 'API keys', to: '/keys', icon: 'keys', call: 'listApiKeys', key: 'k' },
  { title: 'People', to: '/people', icon: 'people', call: 'listPeople' },
  { title: 'Audit log', to: '/audit', icon: 'audit', call: 'listAudit' },
  { title: 'Owners', to: '/owners', icon: 'owners', call: 'listOwners', isForAdministrators: true },
  { title: 'Health', to: '/health', icon: 'health', call: 'listNodes', isForAdministrators: true },
);

/** One integration's pages. */
export const SECTIONS = menuPages(
  { title: 'Overview', to: '/integrations/$integration', icon: 'overview', key: 'o' },
  {
    title: 'Playground',
    to: '/integrations/$integration/playground',
    icon: 'playground',
    call: 'getCompletionV2',
    key: 'p',
  },
  { title: 'Chats', to: '/integrations/$integration/chats', icon: 'chats', call: 'listChats', key: 'c' },
  { title: 'Runs', to: '/integrations/$integration/runs', icon: 'runs', call: 'listRuns', key: 'r' },
  { title: 'Members', to: '/integrations/$integration/members', icon: 'members', call: 'listMembers', key: 'm' },
  { title: 'Usage', to: '/integrations/$integration/usage', icon: 'usage', call: 'listUsage', key: 'u' },
  { title: 'Files', to: '/integrations/$integration/files', icon: 'files', call: 'listFiles', key: 'f' },
);

export const SETTINGS = menuPages(
  {
    title: 'Schedules',
    to: '/integrations/$integration/schedules',
    icon: 'schedules',
    call: 'listSchedules',
    key: 's',
  },
  { title: 'Webhooks', to: '/integrations/$integration/webhooks', icon: 'webhooks', call: 'listWebhooks', key: 'w' },
);

/** All pages of one integration. */
export const INTEGRATION_PAGES = [...SECTIONS, ...SETTINGS];
