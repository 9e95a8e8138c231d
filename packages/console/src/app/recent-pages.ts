import { consoleUrl } from './addresses.ts';
import { onPersonLeaves } from './person.ts';

export interface RecentPage {
  /** Below the console's address, such as `integrations/shop/runs?status=failed`. */
  readonly path: string;
  readonly title: string;
}

/** In the storage of the tab: titles have names of people and chats, which must not stay on the disk of a shared computer. */
const KEY = 'runwire recent pages';
const MAX_PAGES = 12;
/** Pages of people who are not signed in. */
const NEVER = ['sign-in', 'set-up'];

export function listRecentPages(): readonly RecentPage[] {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? '[]');
  } catch {
    return [];
  }
}

/** Notes the page that is shown now. Its title may change when its data arrives. */
export function noteRecentPage(title: string): void {
  const { pathname, search } = location;
  if (!pathname.startsWith(consoleUrl.pathname)) return;
  const page = { path: pathname.slice(consoleUrl.pathname.length) + search, title };
  if (NEVER.includes(withoutSearch(page.path))) return;
  const others = listRecentPages().filter(({ path }) => withoutSearch(path) !== withoutSearch(page.path));
  sessionStorage.setItem(KEY, JSON.stringify([page, ...others].slice(0, MAX_PAGES)));
}

/** The integration whose page was shown last. */
export function lastIntegration(): string | undefined {
  const ids = listRecentPages().map(({ path }) => /^integrations\/([^/?]+)/.exec(path)?.[1]);
  const id = ids.find((found) => found !== undefined);
  return id === undefined ? undefined : decodeURIComponent(id);
}

const withoutSearch = (path: string) => path.replace(/\?.*$/, '');

onPersonLeaves(() => sessionStorage.removeItem(KEY));
