import type { Me } from '@runwire/client';
import { useQuery } from '@tanstack/react-query';
import { mayCall } from '../ui/may.tsx';
import { AGENTS, INTEGRATION_PAGES, ORGANISATION, WORK } from './menu-pages.ts';
import { meQuery } from './queries.ts';

type PageGuard = Pick<(typeof ORGANISATION)[number], 'call' | 'isForAdministrators'>;

/** True if the page has something to show to the person. */
export const isInMenu =
  (me: Me | undefined) =>
  ({ call, isForAdministrators }: PageGuard): boolean =>
    (call === undefined || mayCall(me, call)) && (isForAdministrators !== true || me?.administrator === true);

/** The pages that the person can open. */
export function useMenuPages() {
  const { data: me } = useQuery(meQuery);
  const general = [...WORK, ...AGENTS, ...ORGANISATION];
  return { general: general.filter(isInMenu(me)), ofIntegration: INTEGRATION_PAGES.filter(isInMenu(me)) };
}
