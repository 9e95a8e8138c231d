import { useCallback, useMemo } from 'react';
import { formatDay } from '../../lib/format.ts';
import { amountOf, type Measure, type Series, type Split, seriesOf, type Unit, type UsageItem } from './usage-data.ts';
import { daysOf, type Period } from './usage-period.ts';
import { UsagePlot } from './usage-plot.tsx';
import { UsageTable } from './usage-table.tsx';
import { UsageTotals } from './usage-totals.tsx';

interface UsageReportProps {
  readonly items: readonly UsageItem[];
  readonly period: Period;
  readonly measure: Measure;
  readonly split: Split | null;
  /** Null if the integration has no allowances, and so no charge. */
  readonly unit: Unit | null;
}

/** Totals, a plot, and the table of the plot. */
export function UsageReport({ items, period: { from, to }, measure, split, unit }: UsageReportProps) {
  const days = useMemo(() => daysOf({ from, to }), [from, to]);
  const series = useMemo(
    () => seriesOf(items, days, (item) => amountOf(item, measure, unit)),
    [items, days, measure, unit],
  );
  const title = { tokens: 'Tokens', runs: 'Runs', charge: `Charge in ${unit}` }[measure];
  const nameOf = useCallback(
    ({ key }: Series) => {
      if (key !== null) return key;
      if (split === null) return title;
      return split === 'member' ? 'Others, and runs without a member' : 'Others';
    },
    [split, title],
  );
  const by = split === null ? '' : ` and ${split}`;
  const caption = `${title} by day${by}, ${formatDay(from)} to ${formatDay(to)}`;
  return (
    <>
      <UsageTotals items={items} unit={unit} />
      <UsagePlot label={`${caption}. The table has the same values.`} days={days} series={series} nameOf={nameOf} />
      <UsageTable
        caption={caption}
        days={days}
        columns={split === null ? plainColumns(items, days, unit) : splitColumns(series, days, nameOf)}
      />
    </>
  );
}

/** All measures of each day. */
function plainColumns(items: readonly UsageItem[], days: readonly string[], unit: Unit | null) {
  const column = (title: string, amount: (item: UsageItem) => number, isMinor = false) => {
    const [series = emptySeries] = seriesOf(items, days, amount);
    return { title, series, isMinor };
  };
  return [
    column('Runs', ({ runs }) => runs),
    column('Tokens', ({ usage }) => usage.total_tokens),
    column('Input tokens', ({ usage }) => usage.input_tokens, true),
    column('Output tokens', ({ usage }) => usage.output_tokens, true),
    ...(unit === null ? [] : [column('Charge', ({ charged }) => charged[unit])]),
  ];
}

const emptySeries: Series = { key: null, values: [], total: 0 };

/** The parts of the plot, and their sum. */
function splitColumns(series: readonly Series[], days: readonly string[], nameOf: (series: Series) => string) {
  const values = days.map((_, index) => series.reduce((sum, one) => sum + (one.values[index] ?? 0), 0));
  const total = series.reduce((sum, one) => sum + one.total, 0);
  const all: Series = { key: null, values, total };
  return [...series.map((one) => ({ title: nameOf(one), series: one })), { title: 'All', series: all }];
}
