import { queryOptions, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api } from '../../app/api.ts';
import { measured, pollMs } from '../../app/traffic.ts';
import { formatCompact, formatNumber, formatTime } from '../../lib/format.ts';
import type { ListSearch } from '../lists/list-kind.ts';
import type { PlotStyle } from '../usage/plot-style.ts';
import type { Series, UsageItem } from '../usage/usage-data.ts';
import { UsagePlot } from '../usage/usage-plot.tsx';
import './runs.css';

const HOUR_MS = 3_600_000;
const HOURS = 24;
/** A longer period has a plot by day on the page of usage. */
const MAX_HOURS = 14 * 24;
const REFRESH_MS = 30_000;
const HEIGHT_PX = 140;

const STYLE: PlotStyle = {
  isStacked: true,
  format: formatNumber,
  formatAxis: formatCompact,
  formatSlot: formatTime,
  formatSlotAxis: (hour) => formatTime(hour).replace(/^.*, /, ''),
};

interface Hours {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The whole hours of the filters: the last 24 if they name no time. Null if there are too many. */
function readHours(from: string | undefined, to: string | undefined, nowMs: number): Hours | null {
  const last = to === undefined ? nowMs : Math.min(Date.parse(to) - 1, nowMs);
  const toMs = Math.floor(last / HOUR_MS) * HOUR_MS + HOUR_MS;
  const fromMs = from === undefined ? toMs - HOURS * HOUR_MS : Math.floor(Date.parse(from) / HOUR_MS) * HOUR_MS;
  const hours = (toMs - fromMs) / HOUR_MS;
  return hours > 0 && hours <= MAX_HOURS ? { fromMs, toMs } : null;
}

const toTime = (ms: number) => new Date(ms).toISOString();

const hoursQuery = (apiIntegrationId: string, { fromMs, toMs }: Hours, { agent, member }: ListSearch) =>
  queryOptions({
    queryKey: ['usage', apiIntegrationId, 'hours', fromMs, toMs, agent, member],
    queryFn: ({ queryKey, signal }) =>
      measured(queryKey, () =>
        Array.fromAsync(
          api().usage.summary(
            {
              ...{ apiIntegrationId, groupBy: 'hour', limit: 200, agent, consumerId: member },
              ...{ from: toTime(fromMs), to: toTime(toMs) },
            },
            { signal },
          ),
        ),
      ),
    refetchInterval: ({ queryKey }) => pollMs([queryKey], REFRESH_MS),
  });

function toSeries(items: readonly UsageItem[], hours: readonly string[]): readonly Series[] {
  const byHour = new Map(items.map((item) => [item.key, item]));
  const series = (key: string, count: (item: UsageItem) => number): Series => {
    const values = hours.map((hour) => {
      const item = byHour.get(hour);
      return item === undefined ? 0 : count(item);
    });
    return { key, values, total: values.reduce((sum, value) => sum + value, 0) };
  };
  return [series('Other runs', ({ runs, failed }) => runs - failed), series('Failed', ({ failed }) => failed)];
}

interface RunHistogramProps {
  readonly integration: string;
  readonly search: ListSearch;
  readonly onChoose: (times: { readonly from: string; readonly to: string }) => void;
}

/** The runs of each hour above their list. Summaries have no filter by status, chat or words. */
export function RunHistogram({ integration, search, onChoose }: RunHistogramProps) {
  const currentHour = Math.floor(Date.now() / HOUR_MS);
  const { from, to, status, chat, q } = search;
  const hours = useMemo(() => readHours(from, to, currentHour * HOUR_MS), [from, to, currentHour]);
  const isShown = hours !== null && status === undefined && chat === undefined && q === undefined;
  const { data } = useQuery({ ...hoursQuery(integration, hours ?? { fromMs: 0, toMs: 0 }, search), enabled: isShown });
  const slots = useMemo(() => {
    const { fromMs, toMs } = hours ?? { fromMs: 0, toMs: 0 };
    return Array.from({ length: (toMs - fromMs) / HOUR_MS }, (_, index) => toTime(fromMs + index * HOUR_MS));
  }, [hours]);
  const series = useMemo(() => toSeries(data ?? [], slots), [data, slots]);
  if (!isShown) return null;
  if (data?.length === 0) return <p className="run-histogram card muted">No run was started in these hours.</p>;
  // The list below must not move when the plot arrives.
  return (
    <div className="run-histogram">
      {data !== undefined && (
        <UsagePlot
          label="Runs by hour."
          days={slots}
          series={series}
          getName={({ key }) => key ?? ''}
          style={STYLE}
          heightPx={HEIGHT_PX}
          onChoose={(hour) => onChoose({ from: hour, to: toTime(Date.parse(hour) + HOUR_MS) })}
        />
      )}
    </div>
  );
}
