import {
  createRootRoute,
  createRoute,
  createRouter,
  type ErrorComponentProps,
  Outlet,
  parseSearchWith,
  redirect,
  stringifySearchWith,
} from '@tanstack/react-router';
import { useEffect } from 'react';
import { ConnectionNotice } from '../ui/connection-notice.tsx';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { EmptyState, Loading } from '../ui/feedback.tsx';
import { Page } from '../ui/page.tsx';
import { consoleUrl } from './addresses.ts';
import { connection } from './connection.ts';
import { isConnectionLost } from './errors.ts';
import { lazyPage } from './lazy-page.tsx';
import { forgetPerson, leaveSession } from './person.ts';
import { meQuery } from './queries.ts';
import { queryClient, sessionEnd } from './query-client.ts';
import { searchFields } from './search.ts';
import { mayHaveSession } from './session.ts';
import { Shell } from './shell.tsx';

/* All pages of the console and their addresses: the one path builder. Each page is loaded when it is first opened. */

const root = createRootRoute({
  component: () => (
    <>
      <ConnectionNotice />
      <Outlet />
    </>
  ),
});

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: searchFields('next'),
  component: lazyPage(() => import('../pages/sign-in/sign-in-page.tsx'), 'SignInPage'),
});

const setUp = createRoute({
  getParentRoute: () => root,
  path: '/set-up',
  component: lazyPage(() => import('../pages/sign-in/set-up-page.tsx'), 'SetUpPage'),
});

const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'signed-in',
  beforeLoad: ({ location }) => {
    if (mayHaveSession()) return;
    // The person may have signed out in another tab.
    forgetPerson();
    throw redirect({ to: '/sign-in', search: { next: location.publicHref } });
  },
  loader: () => queryClient.ensureQueryData(meQuery),
  component: Shell,
});

const home = createRoute({
  getParentRoute: () => signedIn,
  path: '/',
  component: lazyPage(() => import('../pages/home/home-page.tsx'), 'HomePage'),
});

const integrations = createRoute({
  getParentRoute: () => signedIn,
  path: '/integrations',
  validateSearch: searchFields('create'),
  component: lazyPage(() => import('../pages/integrations/integrations-page.tsx'), 'IntegrationsPage'),
});

const integration = createRoute({
  getParentRoute: () => signedIn,
  path: '/integrations/$integration',
  validateSearch: searchFields('tab'),
  component: lazyPage(() => import('../pages/integrations/integration-page.tsx'), 'IntegrationPage'),
});

const playground = createRoute({
  getParentRoute: () => signedIn,
  path: '/integrations/$integration/playground',
  validateSearch: searchFields('chat', 'member', 'agent', 'run', 'with', 'other'),
  component: lazyPage(() => import('../pages/playground/playground-page.tsx'), 'PlaygroundPage'),
});

const chats = createRoute({
  getParentRoute: () => signedIn,
  path: '/integrations/$integration/chats',
  validateSearch: searchFields('member', 'status', 'q', 'last', 'from', 'sort', 'peek'),
  component: lazyPage(() => import('../pages/chats/chats-page.tsx'), 'ChatsPage'),
});

const chat = createRoute({
  getParentRoute: () => signedIn,
  path: '/integrations/$integration/chats/$chat',
  component: lazyPage(() => import('../pages/chats/chat-page.tsx'), 'ChatPage'),
});

const runs = createRoute({
  getParentRoute: () => signedIn,
  path: '/integrations/$integration/runs',
  validateSearch: searchFields(
    'status',
    'agent',
    'member',
    'chat',
    'original',
    'q',
    'last',
    'from',
    'to',
    'peek',
    'compare',
  ),
  component: lazyPage(() => import('../pages/runs/runs-page.tsx'), 'RunsPage'),
});

const run = createRoute({
  getParentRoute: () => signedIn,
  path: '/integrations/$integration/runs/$run',
  validateSearch: searchFields('step', 'kind', 'failed', 'tab', 'text'),
  component: lazyPage(() => import('../pages/runs/run-page.tsx'), 'RunPage'),
});

const compareRuns = createRoute({
  getParentRoute: () => signedIn,
  path: '/integrations/$integration/runs/$run/compare',
  validateSearch: searchFields('with', 'only'),
  component: lazyPage(() => import('../pages/compare/compare-page.tsx'), 'ComparePage'),
});

const members = createRoute({
  getParentRoute: () => signedIn,
  path: '/integrations/$integration/members',
  validateSearch: searchFields('q', 'create'),
  component: lazyPage(() => import('../pages/members/members-page.tsx'), 'MembersPage'),
});

const member = createRoute({
  getParentRoute: () => signedIn,
  path: '/integrations/$integration/members/$member',
  validateSearch: searchFields('tab'),
  component: lazyPage(() => import('../pages/members/member-page.tsx'), 'MemberPage'),
});

const usage = createRoute({
  getParentRoute: () => signedIn,
  path: '/integrations/$integration/usage',
  validateSearch: searchFields('from', 'to', 'measure', 'splitBy', 'member', 'agent', 'model'),
  component: lazyPage(() => import('../pages/usage/usage-page.tsx'), 'UsagePage'),
});

const files = createRoute({
  getParentRoute: () => signedIn,
  path: '/integrations/$integration/files',
  validateSearch: searchFields('folder', 'file', 'q', 'sort'),
  component: lazyPage(() => import('../pages/files/files-page.tsx'), 'FilesPage'),
});

const schedules = createRoute({
  getParentRoute: () => signedIn,
  path: '/integrations/$integration/schedules',
  validateSearch: searchFields('create'),
  component: lazyPage(() => import('../pages/schedules/schedules-page.tsx'), 'SchedulesPage'),
});

const schedule = createRoute({
  getParentRoute: () => signedIn,
  path: '/integrations/$integration/schedules/$schedule',
  component: lazyPage(() => import('../pages/schedules/schedule-page.tsx'), 'SchedulePage'),
});

const webhooks = createRoute({
  getParentRoute: () => signedIn,
  path: '/integrations/$integration/webhooks',
  validateSearch: searchFields('create'),
  component: lazyPage(() => import('../pages/webhooks/webhooks-page.tsx'), 'WebhooksPage'),
});

const webhookEndpoint = createRoute({
  getParentRoute: () => signedIn,
  path: '/integrations/$integration/webhooks/$endpoint',
  validateSearch: searchFields('status', 'type', 'from', 'to'),
  component: lazyPage(() => import('../pages/webhooks/endpoint-page.tsx'), 'EndpointPage'),
});

const webhookDelivery = createRoute({
  getParentRoute: () => signedIn,
  path: '/integrations/$integration/webhooks/$endpoint/$delivery',
  component: lazyPage(() => import('../pages/webhooks/delivery-page.tsx'), 'DeliveryPage'),
});

const approvals = createRoute({
  getParentRoute: () => signedIn,
  path: '/approvals',
  validateSearch: searchFields('tab'),
  component: lazyPage(() => import('../pages/approvals/approvals-page.tsx'), 'ApprovalsPage'),
});

const agencies = createRoute({
  getParentRoute: () => signedIn,
  path: '/agencies',
  component: lazyPage(() => import('../pages/agencies/agencies-page.tsx'), 'AgenciesPage'),
});

const agency = createRoute({
  getParentRoute: () => signedIn,
  path: '/agencies/$agency',
  validateSearch: searchFields('agent'),
  component: lazyPage(() => import('../pages/agencies/agency-page.tsx'), 'AgencyPage'),
});

const keys = createRoute({
  getParentRoute: () => signedIn,
  path: '/keys',
  validateSearch: searchFields('create', 'key'),
  component: lazyPage(() => import('../pages/keys/keys-page.tsx'), 'KeysPage'),
});

const profile = createRoute({
  getParentRoute: () => signedIn,
  path: '/profile',
  component: lazyPage(() => import('../pages/profile/profile-page.tsx'), 'ProfilePage'),
});

const people = createRoute({
  getParentRoute: () => signedIn,
  path: '/people',
  validateSearch: searchFields('create'),
  component: lazyPage(() => import('../pages/people/people-page.tsx'), 'PeoplePage'),
});

const owners = createRoute({
  getParentRoute: () => signedIn,
  path: '/owners',
  component: lazyPage(() => import('../pages/owners/owners-page.tsx'), 'OwnersPage'),
});

const audit = createRoute({
  getParentRoute: () => signedIn,
  path: '/audit',
  validateSearch: searchFields('actor', 'operation', 'target', 'last', 'from', 'to'),
  component: lazyPage(() => import('../pages/audit/audit-page.tsx'), 'AuditPage'),
});

const health = createRoute({
  getParentRoute: () => signedIn,
  path: '/health',
  component: lazyPage(() => import('../pages/health/health-page.tsx'), 'HealthPage'),
});

const notFound = createRoute({
  getParentRoute: () => signedIn,
  path: '$',
  component: () => (
    <Page title="Page not found">
      <EmptyState title="There is no page at this address">
        <p>Check the address, or choose a page in the menu.</p>
      </EmptyState>
    </Page>
  ),
});

export const router = createRouter({
  routeTree: root.addChildren([
    signIn,
    setUp,
    signedIn.addChildren([
      home,
      notFound,
      integrations,
      integration,
      playground,
      chats,
      chat,
      runs,
      run,
      compareRuns,
      members,
      member,
      usage,
      files,
      schedules,
      schedule,
      webhooks,
      webhookEndpoint,
      webhookDelivery,
      approvals,
      agencies,
      agency,
      keys,
      profile,
      people,
      owners,
      audit,
      health,
    ]),
  ]),
  basepath: consoleUrl.pathname,
  // All values in the address are text: a member may have the id `007`.
  parseSearch: parseSearchWith((text) => text),
  stringifySearch: stringifySearchWith(String),
  // A transcript opens at its end.
  scrollRestoration: ({ location }) => !/\/chats\/[^/]+$/.test(location.pathname),
  defaultPreload: 'intent',
  defaultPendingComponent: () => <Loading what="the page" />,
  defaultErrorComponent: RouteError,
});

/** An error of a whole page. If it could not be loaded, a reload repairs it, because browsers remember a failed module. */
function RouteError({ error }: ErrorComponentProps) {
  useEffect(() => (isConnectionLost(error) ? connection.reloadOnRecovery(error) : undefined), [error]);
  return (
    <Page title="Something went wrong">
      <ErrorNotice error={error} onRetry={() => void router.invalidate()} />
    </Page>
  );
}

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

sessionEnd.handle = () => leaveSession(router, false);

connection.onRecovery = () => {
  void queryClient.invalidateQueries();
  void router.invalidate();
};
