import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useNavigate, useParams, useRouter, useRouterState } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { Menu, MenuItem, MenuLabel, MenuLine } from '../ui/menu.tsx';
import { notify } from '../ui/toasts.tsx';
import { apiUrl, consoleUrl } from './addresses.ts';
import { leaveSession } from './person.ts';
import { integrationsQuery, meQuery } from './queries.ts';
import { signOut } from './session.ts';

/** The frame of all pages after signing in: the menu, and the page in it. */
export function Shell() {
  const side = useRef<HTMLElement>(null);
  const pathname = useRouterState({ select: ({ location }) => location.pathname });
  // The whole address, because the pages have a `<base>`.
  const address = useRouterState({ select: ({ location }) => location.publicHref.replace(/#.*$/, '') });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the menu closes after each navigation.
  useEffect(() => side.current?.hidePopover(), [pathname]);
  return (
    <div className="shell">
      <a className="button skip-link" href={`${address}#main`}>
        Skip to the page
      </a>
      <header className="bar">
        <Brand />
        <button type="button" className="button" popoverTarget="menu">
          Menu
        </button>
      </header>
      <aside ref={side} id="menu" className="side" popover="auto">
        <Brand />
        <Navigation />
        <Profile />
      </aside>
      <main id="main" className="main">
        <Outlet />
      </main>
    </div>
  );
}

function Brand() {
  return (
    <Link to="/" className="brand">
      <img src={new URL('icon.svg', consoleUrl).href} alt="" />
      Runwire
    </Link>
  );
}

/** One integration's pages. */
const SECTIONS = [
  { title: 'Playground', to: '/integrations/$integration/playground' },
  { title: 'Chats', to: '/integrations/$integration/chats' },
  { title: 'Runs', to: '/integrations/$integration/runs' },
  { title: 'Members', to: '/integrations/$integration/members' },
  { title: 'Usage', to: '/integrations/$integration/usage' },
  { title: 'Files', to: '/integrations/$integration/files' },
  { title: 'Schedules', to: '/integrations/$integration/schedules' },
  { title: 'Webhooks', to: '/integrations/$integration/webhooks' },
] as const;

function Navigation() {
  const { data: me } = useQuery(meQuery);
  const { integration } = useParams({ strict: false });
  return (
    <nav className="nav" aria-label="Pages">
      <ul>
        <li>
          <Link to="/integrations" activeOptions={{ exact: true }}>
            Integrations
          </Link>
        </li>
        <li>
          <Link to="/agencies">Agencies</Link>
        </li>
        {me?.administrator && (
          <li>
            <Link to="/health">Health</Link>
          </li>
        )}
      </ul>
      {integration !== undefined && <IntegrationSections integration={integration} />}
    </nav>
  );
}

function IntegrationSections({ integration }: { readonly integration: string }) {
  const { data: integrations = [] } = useQuery(integrationsQuery);
  const navigate = useNavigate();
  // Another integration opens at the same section.
  const name = useRouterState({ select: ({ location }) => location.pathname.split('/')[3] });
  const section = SECTIONS.find(({ to }) => to.endsWith(`/${name}`))?.to ?? '/integrations/$integration';
  const isListed = integrations.some(({ apiIntegrationId }) => apiIntegrationId === integration);
  return (
    <div className="stack-tight">
      <select
        className="input"
        aria-label="Integration"
        value={integration}
        onChange={({ target }) => void navigate({ to: section, params: { integration: target.value } })}
      >
        {!isListed && <option value={integration}>{integration}</option>}
        {integrations.map(({ apiIntegrationId, name }) => (
          <option key={apiIntegrationId} value={apiIntegrationId}>
            {name ?? apiIntegrationId}
          </option>
        ))}
      </select>
      <ul>
        <li>
          <Link
            to="/integrations/$integration"
            params={{ integration }}
            activeOptions={{ exact: true, includeSearch: false }}
          >
            Overview
          </Link>
        </li>
        {SECTIONS.map(({ title, to }) => (
          <li key={to}>
            <Link to={to} params={{ integration }}>
              {title}
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Profile() {
  const { data: me } = useQuery(meQuery);
  const router = useRouter();
  const person = me?.person?.name ?? me?.person?.email ?? 'Profile';
  const leave = async () => {
    try {
      await signOut();
      leaveSession(router, true);
    } catch {
      notify('The server does not answer, so you are still signed in. Sign out again when it answers.');
    }
  };
  return (
    <Menu
      trigger={
        <button type="button" className="button profile" aria-label={`Profile of ${person}`}>
          <span className="ellipsis">{person}</span>
          <span aria-hidden="true">▾</span>
        </button>
      }
    >
      {me?.email != null && <MenuLabel>{me.email}</MenuLabel>}
      <MenuItem isLink>
        <Link to="/keys">API keys</Link>
      </MenuItem>
      <MenuItem isLink>
        <Link to="/profile">Profile and password</Link>
      </MenuItem>
      {me?.administrator && (
        <MenuItem isLink>
          <Link to="/people">People</Link>
        </MenuItem>
      )}
      <MenuItem isLink>
        <a href={new URL('docs', apiUrl).href} target="_blank" rel="noreferrer">
          API reference
        </a>
      </MenuItem>
      <MenuLine />
      <MenuItem onSelect={() => void leave()}>Sign out</MenuItem>
    </Menu>
  );
}
