import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useRouterState } from '@tanstack/react-router';
import { useId } from 'react';
import { Icon } from '../ui/icons.tsx';
import { isInMenu } from './menu-choice.ts';
import { AGENTS, INTEGRATION_PAGES, ORGANISATION, SECTIONS, SETTINGS, WORK } from './menu-pages.ts';
import { integrationsQuery, meQuery } from './queries.ts';

/** The menu: all pages that the person can open, in groups. */
export function Navigation({ openQuestions }: { readonly openQuestions: string }) {
  const { data: me } = useQuery(meQuery);
  const { integration } = useParams({ strict: false });
  const organisation = ORGANISATION.filter(isInMenu(me));
  return (
    <nav className="nav" aria-label="Pages">
      <Group title="Work" pages={WORK} openQuestions={openQuestions} />
      <Group title="Agents" pages={AGENTS} />
      {integration !== undefined && <IntegrationGroups integration={integration} />}
      {organisation.length > 0 && <Group title="Organisation" pages={organisation} />}
    </nav>
  );
}

interface GroupProps {
  readonly title: string;
  readonly pages: readonly (typeof WORK | typeof AGENTS | typeof ORGANISATION)[number][];
  readonly openQuestions?: string;
}

/** Pages outside an integration. */
function Group({ title, pages, openQuestions = '' }: GroupProps) {
  const id = useId();
  return (
    <div>
      <h2 id={id}>{title}</h2>
      <ul aria-labelledby={id}>
        {pages.map(({ title: page, to, icon }) => (
          <li key={to}>
            <Link to={to} activeOptions={{ exact: to === '/' || to === '/integrations', includeSearch: false }}>
              <Icon name={icon} />
              {page}
              {to === '/approvals' && <OpenCount count={openQuestions} />}
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** How many questions are open. Nothing if none is. */
export function OpenCount({ count }: { readonly count: string }) {
  if (count === '') return null;
  return (
    <span className="badge badge-warn">
      {count}
      <span className="visually-hidden"> open</span>
    </span>
  );
}

function IntegrationGroups({ integration }: { readonly integration: string }) {
  const { data: me } = useQuery(meQuery);
  const { data: integrations = [] } = useQuery(integrationsQuery);
  const navigate = useNavigate();
  const settings = useId();
  // Another integration opens at the same section.
  const name = useRouterState({ select: ({ location }) => location.pathname.split('/')[3] });
  const section = INTEGRATION_PAGES.find(({ to }) => to.endsWith(`/${name}`))?.to ?? '/integrations/$integration';
  const isListed = integrations.some(({ apiIntegrationId }) => apiIntegrationId === integration);
  const toLink = ({ title, to, icon }: (typeof INTEGRATION_PAGES)[number]) => (
    <li key={to}>
      <Link
        to={to}
        params={{ integration }}
        activeOptions={{ exact: to === '/integrations/$integration', includeSearch: false }}
      >
        <Icon name={icon} />
        {title}
      </Link>
    </li>
  );
  return (
    <>
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
        <ul aria-label="This integration">{SECTIONS.filter(isInMenu(me)).map(toLink)}</ul>
      </div>
      <div>
        <h2 id={settings}>Settings</h2>
        <ul aria-labelledby={settings}>{SETTINGS.filter(isInMenu(me)).map(toLink)}</ul>
      </div>
    </>
  );
}
