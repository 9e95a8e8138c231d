import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { integrationQuery } from '../../app/queries.ts';
import { changedSearch } from '../../app/search.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { EmptyState, Loading } from '../../ui/feedback.tsx';
import { Page } from '../../ui/page.tsx';
import { CsvButton } from './csv-button.tsx';
import { LatencyReport } from './latency-report.tsx';
import { MEASURES, SPLITS, type UsageFilters, usageQuery } from './usage-data.ts';
import { UsageFiltersForm, type UsageSearch } from './usage-filters.tsx';
import { periodError, readPeriod } from './usage-period.ts';
import { UsageReport } from './usage-report.tsx';
import './usage.css';

const ROUTE = '/integrations/$integration/usage';

export function UsagePage() {
  const { integration } = useParams({ from: `/signed-in${ROUTE}` });
  const search = useSearch({ from: `/signed-in${ROUTE}` });
  const navigate = useNavigate({ from: ROUTE });
  const split = SPLITS.find((one) => one === search.splitBy) ?? null;
  const { member, agent, model } = search;
  const period = readPeriod(search.from, search.to);
  const filters: UsageFilters = { period, member, agent, model };
  const wrongPeriod = periodError(period);
  const settings = useQuery(integrationQuery(integration));
  const unit = settings.data?.allowances?.unit ?? null;
  const hasCharge = settings.data?.allowances !== null;
  const measures = MEASURES.filter((one) => hasCharge || one !== 'charge');
  const measure = measures.find((one) => one === search.measure) ?? 'tokens';
  const usage = useQuery({
    ...usageQuery(integration, filters, split),
    enabled: wrongPeriod === null,
    placeholderData: (before, query) => (query?.queryKey[1] === integration ? before : undefined),
  });
  const change = (changed: UsageSearch) => void navigate({ search: changedSearch(changed), replace: true });
  const error = wrongPeriod ?? usage.error ?? settings.error;
  const retry = () => {
    void usage.refetch();
    void settings.refetch();
  };
  const isReady = usage.data !== undefined && settings.data !== undefined;
  return (
    <Page title="Usage" lead="Tokens, runs, charge and latency of this integration by day. Days begin at 00:00 UTC.">
      <UsageFiltersForm
        integration={integration}
        filters={filters}
        measure={measure}
        splitBy={split ?? ''}
        hasCharge={hasCharge}
        isFiltered={Object.keys(search).some((name) => name !== 'measure' && name !== 'splitBy')}
        onChange={change}
        onClear={() => change({ from: '', to: '', member: '', agent: '', model: '' })}
      />
      {error !== null && <ErrorNotice error={error} {...(wrongPeriod === null ? { onRetry: retry } : {})} />}
      {error === null && !isReady && <Loading what="the usage" />}
      {error === null && isReady && (
        <div className="stack-wide" aria-busy={usage.isPlaceholderData}>
          {usage.data.days.length === 0 ? (
            <EmptyState title="No runs in this period">
              <p>Choose other days or filters, or start a run in the playground.</p>
            </EmptyState>
          ) : (
            <UsageReport usage={usage.data} measure={measure} unit={unit} />
          )}
          <CsvButton integration={integration} filters={filters} />
          {usage.data.days.length > 0 && <LatencyReport integration={integration} filters={filters} />}
        </div>
      )}
    </Page>
  );
}
