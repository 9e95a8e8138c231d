import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { api } from '../../app/api.ts';
import { integrationQuery } from '../../app/queries.ts';
import { changedSearch } from '../../app/search.ts';
import { CsvButton } from '../../ui/csv-button.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { EmptyState, Loading } from '../../ui/feedback.tsx';
import { Page } from '../../ui/page.tsx';
import { ErrorReport } from './error-report.tsx';
import { LatencyReport } from './latency-report.tsx';
import { PeriodPresets } from './period-presets.tsx';
import { findChanges, MEASURES, partsQuery, SPLITS, type UsageFilters, usageQuery } from './usage-data.ts';
import { UsageFiltersForm, type UsageSearch } from './usage-filters.tsx';
import { dayTimes, periodError, periodTimes, readPeriod, toDays } from './usage-period.ts';
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
  const { from, to } = period;
  const filters: UsageFilters = { period, member, agent, model };
  const wrongPeriod = periodError(period);
  const settings = useQuery(integrationQuery(integration));
  const unit = settings.data?.allowances?.unit ?? null;
  const hasCharge = settings.data?.allowances !== null;
  const usage = useQuery({
    ...usageQuery(integration, filters, split),
    enabled: wrongPeriod === null,
    placeholderData: (before, query) => (query?.queryKey[1] === integration ? before : undefined),
  });
  const hasCost = usage.data?.days.some(({ cost }) => cost !== null) ?? false;
  const measures = MEASURES.filter((one) => (hasCharge || one !== 'charge') && (hasCost || one !== 'cost'));
  const measure = measures.find((one) => one === search.measure) ?? (hasCost ? 'cost' : 'tokens');
  const versions = useQuery({ ...partsQuery(integration, filters, 'agencyVersion'), enabled: wrongPeriod === null });
  const marks = useMemo(() => findChanges(versions.data ?? [], toDays({ from, to })), [versions.data, from, to]);
  const showRuns = (day: string, status?: string) =>
    void navigate({
      to: '/integrations/$integration/runs',
      search: {
        ...dayTimes(day),
        ...(member !== undefined && { member }),
        ...(agent !== undefined && { agent }),
        ...(status !== undefined && { status }),
      },
    });
  const change = (changed: UsageSearch) => void navigate({ search: changedSearch(changed), replace: true });
  const error = wrongPeriod ?? usage.error ?? settings.error;
  const retry = () => {
    void usage.refetch();
    void settings.refetch();
  };
  const isReady = usage.data !== undefined && settings.data !== undefined;
  return (
    <Page title="Usage" lead="Cost, tokens, runs and latency of this integration by day. Days begin at 00:00 UTC.">
      <UsageFiltersForm
        integration={integration}
        filters={filters}
        measure={measure}
        splitBy={split ?? ''}
        measures={measures}
        isFiltered={Object.keys(search).some((name) => name !== 'measure' && name !== 'splitBy')}
        onChange={change}
        onClear={() => change({ from: '', to: '', member: '', agent: '', model: '' })}
      />
      <PeriodPresets period={period} onChoose={change} />
      {error !== null && <ErrorNotice error={error} {...(wrongPeriod === null ? { onRetry: retry } : {})} />}
      {error === null && !isReady && <Loading what="the usage" />}
      {error === null && isReady && (
        <div className="stack-wide" aria-busy={usage.isPlaceholderData}>
          {usage.data.days.length === 0 ? (
            <EmptyState title="No runs in this period">
              <p>Choose other days or filters, or start a run in the playground.</p>
            </EmptyState>
          ) : (
            <UsageReport
              {...{ usage: usage.data, measure, unit, marks }}
              onChoose={(day) => showRuns(day, measure === 'failed' ? 'failed' : undefined)}
            />
          )}
          <CsvButton
            name={`usage-${from}-to-${to}.csv`}
            load={() => api().usage.csv({ apiIntegrationId: integration, ...periodTimes(period), consumerId: member })}
          >
            One row for each run and each adjustment of the period{member !== undefined && ' and the member'}.
            {(agent ?? model) !== undefined && ' The file has all agents and models.'}
          </CsvButton>
          {usage.data.days.length > 0 && (
            <>
              <LatencyReport {...{ integration, filters, marks }} onChoose={showRuns} />
              <ErrorReport {...{ integration, filters, marks }} onChoose={(day) => showRuns(day, 'failed')} />
            </>
          )}
        </div>
      )}
    </Page>
  );
}
