import type { Integration } from '@runwire/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { formatCount } from '../../lib/format.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Loading } from '../../ui/feedback.tsx';
import { Checklist, useIsChecklistLoading } from '../home/checklist.tsx';
import { FailureList } from '../home/failure-list.tsx';
import { hasCosts, MeasureStrip } from '../home/measure-strip.tsx';
import { NeedsYou } from '../home/needs-you.tsx';
import { overviewQuery } from '../home/overview-query.ts';

/** What happened in the last 24 hours, and what needs a person. */
export function OverviewPanel({ integration }: { readonly integration: Integration }) {
  const { apiIntegrationId } = integration;
  const { data, error, refetch } = useQuery(overviewQuery(apiIntegrationId));
  const isChecklistLoading = useIsChecklistLoading(apiIntegrationId);
  if (data === undefined || isChecklistLoading) {
    return error === null ? (
      <Loading what="the last hours" />
    ) : (
      <ErrorNotice error={error} onRetry={() => void refetch()} />
    );
  }
  const params = { integration: apiIntegrationId };
  return (
    <div className="stack-wide">
      <Checklist integration={integration} />
      <section className="stack-tight" aria-labelledby="last-hours">
        <div className="spread">
          <h2 id="last-hours">Last 24 hours</h2>
          <Link to="/integrations/$integration/runs" params={params} search={{ status: 'running' }}>
            {formatCount(data.activeRuns, 'active run')}
          </Link>
        </div>
        <MeasureStrip measures={data.measures} before={data.before} hasCost={hasCosts(data)} />
      </section>
      <NeedsYou overview={data} />
      {data.failures.length > 0 && (
        <section className="stack-tight" aria-labelledby="failures">
          <h2 id="failures">Latest failures</h2>
          <FailureList integration={apiIntegrationId} failures={data.failures} />
        </section>
      )}
    </div>
  );
}
