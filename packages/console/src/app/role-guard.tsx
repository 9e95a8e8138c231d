import { operationRoles } from '@runwire/client';
import { useQuery } from '@tanstack/react-query';
import { Link, useMatches } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { EmptyState } from '../ui/feedback.tsx';
import { Page } from '../ui/page.tsx';
import { isInMenu } from './menu-choice.ts';
import { AGENTS, INTEGRATION_PAGES, ORGANISATION, WORK } from './menu-pages.ts';
import { meQuery } from './queries.ts';

const PAGES = [...WORK, ...AGENTS, ...ORGANISATION, ...INTEGRATION_PAGES];

/** An address can lead to a page that has nothing for the person's role. The page would only show refusals. */
export function RoleGuard({ children }: { readonly children: ReactNode }) {
  const { data: me } = useQuery(meQuery);
  const routeId = useMatches({ select: (matches) => matches.at(-1)?.routeId });
  const page = PAGES.find(({ to }) => routeId === `/signed-in${to}`);
  if (me === undefined || page === undefined || isInMenu(me)(page)) return children;
  const needed = page.call === undefined ? null : operationRoles[page.call];
  return (
    <Page title={page.title}>
      <EmptyState title="Your role does not include this page">
        {page.isForAdministrators === true && !me.administrator ? (
          <p>It is for the administrator of the installation.</p>
        ) : (
          <p>
            It needs the role <strong>{needed}</strong>; yours is <strong>{me.key.role}</strong>. A manager of your
            organisation can change it.
          </p>
        )}
        <Link className="button" to="/">
          Home
        </Link>
      </EmptyState>
    </Page>
  );
}
