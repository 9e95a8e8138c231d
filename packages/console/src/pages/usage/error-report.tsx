import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { formatDay } from '../../lib/format.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Loading } from '../../ui/feedback.tsx';
import { getSeries, partsQuery, type UsageFilters } from './usage-data.ts';
import { toDays } from './usage-period.ts';
import { UsagePlot } from './usage-plot.tsx';
import { UsageTable } from './usage-table.tsx';

interface ErrorReportProps {
  readonly integration: string;
  readonly filters: UsageFilters;
  readonly marks: readonly number[];
  readonly onChoose: (day: string) => void;
}

/** Failed runs by day and code. */
export function ErrorReport({ integration, filters, marks, onChoose }: ErrorReportProps) {
  const { data, error, refetch } = useQuery(partsQuery(integration, filters, 'error'));
  const { from, to } = filters.period;
  const days = useMemo(() => toDays({ from, to }), [from, to]);
  const series = useMemo(() => {
    const failed = (data ?? []).filter((item) => item.failed > 0);
    return getSeries(failed, days, (item) => item.failed);
  }, [data, days]);
  const caption = `Failed runs by day and code, ${formatDay(from)} to ${formatDay(to)}`;
  return (
    <section className="stack" aria-label="Failed runs">
      <h2>Failed runs</h2>
      {error !== null && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {error === null && data === undefined && <Loading what="failed runs" />}
      {data !== undefined && series.length === 0 && <p className="muted">No run failed in this period.</p>}
      {series.length > 0 && (
        <>
          <UsagePlot
            label={`${caption}. The table has the same values.`}
            days={days}
            series={series}
            getName={({ key }) => key ?? 'Others'}
            marks={marks}
            onChoose={onChoose}
          />
          <UsageTable
            caption={caption}
            days={days}
            columns={series.map((one) => ({ title: one.key ?? 'Others', series: one }))}
          />
        </>
      )}
    </section>
  );
}
