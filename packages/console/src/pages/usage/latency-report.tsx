import type { LatencySummary } from '@runwire/client';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api } from '../../app/api.ts';
import { formatDay, formatDuration } from '../../lib/format.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { EmptyState, Loading } from '../../ui/feedback.tsx';
import type { PlotStyle } from './plot-style.ts';
import type { Series, UsageFilters } from './usage-data.ts';
import { periodTimes, toDays } from './usage-period.ts';
import { UsagePlot } from './usage-plot.tsx';
import { UsageTable } from './usage-table.tsx';

type Day = LatencySummary['items'][number];

const latencyQuery = (apiIntegrationId: string, { period, agent, model }: UsageFilters) =>
  queryOptions({
    queryKey: ['latency', apiIntegrationId, period, agent, model],
    queryFn: ({ signal }) =>
      api().usage.latency({ apiIntegrationId, ...periodTimes(period), agent, model }, { signal }),
    staleTime: 30_000,
  });

const LINES: PlotStyle = { isStacked: false, format: formatDuration, formatAxis: formatDuration };

const COLUMNS: readonly (readonly [string, (day: Day) => number])[] = [
  ['First output, p50', ({ firstTokenMs }) => firstTokenMs?.p50 ?? 0],
  ['First output, p95', ({ firstTokenMs }) => firstTokenMs?.p95 ?? 0],
  ['End, p50', ({ durationMs }) => durationMs.p50],
  ['End, p95', ({ durationMs }) => durationMs.p95],
];

function toSeries(items: readonly Day[], days: readonly string[]): readonly Series[] {
  const byDay = new Map(items.map((item) => [item.day, item]));
  return COLUMNS.map(([key, getMs]) => {
    const values = days.map((day) => {
      const item = byDay.get(day);
      return item === undefined ? 0 : getMs(item);
    });
    return { key, values, total: 0 };
  });
}

interface LatencyReportProps {
  readonly integration: string;
  readonly filters: UsageFilters;
  readonly marks: readonly number[];
  readonly onChoose: (day: string) => void;
}

/** How long completed runs took, by day: the median, and the time that 95 of 100 runs did not exceed. */
export function LatencyReport({ integration, filters, marks, onChoose }: LatencyReportProps) {
  const { data, error, refetch } = useQuery(latencyQuery(integration, filters));
  const { from, to } = filters.period;
  const days = useMemo(() => toDays({ from, to }), [from, to]);
  const series = useMemo(() => toSeries(data?.items ?? [], days), [data, days]);
  const caption = `Latency by day, ${formatDay(from)} to ${formatDay(to)}`;
  return (
    <section className="stack" aria-label="Latency">
      <h2>Latency</h2>
      <p className="muted">
        From the admission of a completed run to its first output and to its end. Half of the runs took at most p50, 95
        of 100 at most p95. The filter by member does not apply.
      </p>
      {error !== null && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {error === null && data === undefined && <Loading what="the latency" />}
      {data?.items.length === 0 && (
        <EmptyState title="No completed runs in this period">
          <p>Choose other days or filters.</p>
        </EmptyState>
      )}
      {data !== undefined && data.items.length > 0 && (
        <>
          <UsagePlot
            label={`${caption}. The table has the same values.`}
            days={days}
            series={series}
            getName={({ key }) => key ?? ''}
            style={LINES}
            marks={marks}
            onChoose={onChoose}
          />
          <UsageTable
            caption={caption}
            days={days}
            columns={series.map((one) => ({ title: one.key ?? '', series: one }))}
            format={formatDuration}
            hasTotal={false}
          />
          {data.items.some(({ sampled }) => sampled) && (
            <p className="small muted">
              Of days with more than 2 400 runs a sample is shown: the first runs of each hour.
            </p>
          )}
        </>
      )}
    </section>
  );
}
