import type { Agency } from '@runwire/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { watchedAgenciesQuery } from '../../app/queries.ts';
import { formatCount } from '../../lib/format.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Badge, EmptyState, Loading, Status } from '../../ui/feedback.tsx';
import { Page } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import './agencies.css';
import { Prose } from '../../ui/prose.tsx';
import { getTitle, SOURCES } from './agency-words.ts';

export function AgenciesPage() {
  const { data: agencies, error, refetch } = useQuery(watchedAgenciesQuery);
  return (
    <Page
      title="Agencies"
      lead="An agency is a group of agents that work together. The server loads agencies from files."
    >
      {agencies === undefined && error === null && <Loading what="agencies" />}
      {agencies === undefined && error !== null && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {agencies?.length === 0 && (
        <EmptyState title="No agencies">
          <p>
            Put a folder with an <code>agency.yaml</code> into the server's <code>RUNWIRE_AGENCIES_DIR</code>. The guide
            is <code>docs/first-agency.md</code>.
          </p>
        </EmptyState>
      )}
      {agencies !== undefined && agencies.length > 0 && (
        <ul className="grid agency-cards">
          {agencies.map((agency) => (
            <AgencyCard key={agency.agency} agency={agency} />
          ))}
        </ul>
      )}
    </Page>
  );
}

function AgencyCard({ agency }: { readonly agency: Agency }) {
  const { agency: id, source, version, agents, error, loadedAt, process } = agency;
  return (
    <li className="card stack">
      <div className="spread">
        <h2 className="agency-name">
          <Link to="/agencies/$agency" params={{ agency: id }}>
            <bdi>{getTitle(agency)}</bdi>
          </Link>
        </h2>
        {error !== null && <Badge tone="bad">broken</Badge>}
        {process.state === 'failed' && <Badge tone="bad">process failed</Badge>}
      </div>
      {error !== null && (
        <p className="agency-error">
          <Prose text={error.message} />
        </p>
      )}
      <dl className="definition">
        <dt>Id</dt>
        <dd>
          <code>{id}</code>
        </dd>
        {version !== null && (
          <>
            <dt>Agents</dt>
            <dd>{formatCount(agents.length, 'agent')}</dd>
            <dt>MCP servers</dt>
            <dd>
              <McpStates agency={agency} />
            </dd>
            <dt>Source</dt>
            <dd>{source !== null && SOURCES[source]}</dd>
            <dt>Version</dt>
            <dd>
              <code>{version}</code>
            </dd>
          </>
        )}
        {loadedAt !== null && (
          <>
            <dt>Loaded</dt>
            <dd>
              <Time time={loadedAt} />
            </dd>
          </>
        )}
      </dl>
    </li>
  );
}

/** How many MCP servers have which state. */
function McpStates({ agency: { mcp } }: { readonly agency: Agency }) {
  const counts = Map.groupBy(mcp, ({ state }) => state);
  if (mcp.length === 0) return 'none';
  return (
    <span className="row">
      {[...counts].map(([state, servers]) => (
        <Status key={state} status={state} count={servers.length} />
      ))}
    </span>
  );
}
