import type { Integration } from '@runwire/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { integrationsQuery } from '../../app/queries.ts';
import { formatCount } from '../../lib/format.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { EmptyState, Loading } from '../../ui/feedback.tsx';
import { Page } from '../../ui/page.tsx';
import { Checklist, useIsChecklistLoading } from './checklist.tsx';
import { FailureList } from './failure-list.tsx';
import { hasCosts, MeasureStrip } from './measure-strip.tsx';
import { NeedsYou } from './needs-you.tsx';
import { overviewQuery } from './overview-query.ts';

/** More integrations are on the page of integrations. */
const MAX_STRIPS = 12;

export function HomePage() {
  const { data: integrations, error, refetch } = useQuery(integrationsQuery);
  const all = useQuery(overviewQuery(null));
  const problem = error ?? all.error;
  return (
    <Page title="Home" lead="The last 24 hours, compared with the 24 hours before.">
      {problem !== null && (
        <ErrorNotice
          error={problem}
          onRetry={() => {
            void refetch();
            void all.refetch();
          }}
        />
      )}
      {problem === null && (integrations === undefined || all.data === undefined) && <Loading what="the last hours" />}
      {integrations !== undefined && all.data !== undefined && (
        <div className="stack-wide">
          <NeedsYou overview={all.data} />
          <Integrations integrations={integrations} />
        </div>
      )}
    </Page>
  );
}

function Integrations({ integrations }: { readonly integrations: readonly Integration[] }) {
  const [only] = integrations;
  if (only === undefined) {
    return (
      <EmptyState title="No integrations yet">
        <p>An integration connects your backend to an agency: a group of agents that works together.</p>
        <Link className="button button-primary" to="/integrations">
          Create an integration
        </Link>
      </EmptyState>
    );
  }
  if (integrations.length === 1) return <OnlyIntegration integration={only} />;
  return (
    <>
      {integrations.slice(0, MAX_STRIPS).map((integration) => (
        <Strip key={integration.apiIntegrationId} integration={integration} />
      ))}
      {integrations.length > MAX_STRIPS && <Link to="/integrations">All {integrations.length} integrations</Link>}
    </>
  );
}

/** With the first steps above it. */
function OnlyIntegration({ integration }: { readonly integration: Integration }) {
  if (useIsChecklistLoading(integration.apiIntegrationId)) return <Loading what="the first steps" />;
  return (
    <>
      <Checklist integration={integration} />
      <Strip integration={integration} />
    </>
  );
}

function Strip({ integration: { apiIntegrationId, name } }: { readonly integration: Integration }) {
  const { data, error, refetch } = useQuery(overviewQuery(apiIntegrationId));
  const { data: all } = useQuery(overviewQuery(null));
  const params = { integration: apiIntegrationId };
  return (
    <section className="stack-tight" aria-label={name ?? apiIntegrationId}>
      <div className="spread">
        <h2>
          <Link to="/integrations/$integration" params={params}>
            <bdi>{name ?? apiIntegrationId}</bdi>
          </Link>
        </h2>
        {data !== undefined && data.activeRuns > 0 && (
          <Link to="/integrations/$integration/runs" params={params} search={{ status: 'running' }}>
            {formatCount(data.activeRuns, 'active run')}
          </Link>
        )}
      </div>
      {error !== null && data === undefined && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {error === null && data === undefined && <Loading what="the last hours" />}
      {data !== undefined && (
        <>
          <MeasureStrip measures={data.measures} before={data.before} hasCost={all !== undefined && hasCosts(all)} />
          <FailureList integration={apiIntegrationId} failures={data.failures.slice(0, 3)} />
        </>
      )}
    </section>
  );
}
