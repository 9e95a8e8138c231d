import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useNavigate, useParams, useRouterState } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { IntegrationWarning } from '../ui/agency-warning.tsx';
import { Icon } from '../ui/icons.tsx';
import { consoleUrl } from './addresses.ts';
import { useLoadedDialog } from './loaded-dialog.tsx';
import { useMenuPages } from './menu-choice.ts';
import { Navigation, OpenCount } from './navigation.tsx';
import { useOpenQuestions } from './open-questions.ts';
import { ProfileMenu } from './profile-menu.tsx';
import { integrationsQuery } from './queries.ts';
import { lastIntegration } from './recent-pages.ts';
import { RoleGuard } from './role-guard.tsx';
import { IS_APPLE, useShortcuts } from './shortcuts.ts';

const loadPalette = () => import('../pages/palette/palette-dialog.tsx').then(({ PaletteDialog }) => PaletteDialog);
const loadHelp = () => import('../pages/palette/shortcuts-dialog.tsx').then(({ ShortcutsDialog }) => ShortcutsDialog);

/** The frame of all pages after signing in: the menu, and the page in it. */
export function Shell() {
  const side = useRef<HTMLElement>(null);
  const openQuestions = useOpenQuestions();
  const { integration } = useParams({ strict: false });
  const pathname = useRouterState({ select: ({ location }) => location.pathname });
  // The whole address, because the pages have a `<base>`.
  const address = useRouterState({ select: ({ location }) => location.publicHref.replace(/#.*$/, '') });
  const { dialog, open } = useLoadedDialog();
  const openPalette = () => open(loadPalette);
  const openHelp = () => open(loadHelp);
  useShortcuts({ openPalette, openHelp, go: useGo() });
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
          Menu <OpenCount count={openQuestions} />
        </button>
      </header>
      <aside ref={side} id="menu" className="side" popover="auto">
        <Brand />
        <button
          type="button"
          className="button find"
          aria-haspopup="dialog"
          aria-keyshortcuts="Control+K Meta+K"
          onClick={() => {
            side.current?.hidePopover();
            openPalette();
          }}
        >
          <Icon name="search" />
          <span className="find-text">Go to…</span>
          <kbd>{IS_APPLE ? '⌘K' : 'Ctrl K'}</kbd>
        </button>
        <Navigation openQuestions={openQuestions} />
        <ProfileMenu onHelp={openHelp} />
      </aside>
      <main id="main" className="main">
        {integration !== undefined && <IntegrationWarning key={integration} integration={integration} />}
        <RoleGuard>
          <Outlet />
        </RoleGuard>
      </main>
      {dialog}
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

/** Returns a function that opens the page of a key. Without an integration in the address it is that of the last one. */
function useGo(): (key: string) => void {
  const navigate = useNavigate();
  const { general, ofIntegration } = useMenuPages();
  const { integration } = useParams({ strict: false });
  const { data: integrations = [] } = useQuery({ ...integrationsQuery, enabled: false });
  return (key) => {
    const page = general.find((one) => one.key === key);
    if (page !== undefined) return void navigate({ to: page.to });
    const own = ofIntegration.find((one) => one.key === key);
    const known = integration ?? lastIntegration() ?? integrations[0]?.apiIntegrationId;
    if (own === undefined) return;
    void (known === undefined
      ? navigate({ to: '/integrations' })
      : navigate({ to: own.to, params: { integration: known } }));
  };
}
