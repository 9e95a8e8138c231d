import { useCallback, useMemo } from 'react';
import { formatCompact, formatCost, formatDay } from '../../lib/format.ts';
import type { PlotStyle } from './plot-style.ts';
import {
  getAmount,
  getSeries,
  type Measure,
  type Series,
  sumCosts,
  type Unit,
  type Usage,
  type UsageItem,
} from './usage-data.ts';
import { toDays } from './usage-period.ts';
import { UsagePlot } from './usage-plot.tsx';
import { UsageTable } from './usage-table.tsx';
import { UsageTotals } from './usage-totals.tsx';

interface UsageReportProps {
  readonly usage: Usage;
  readonly measure: Measure;
  /** Null if the integration has no allowances, and so no charge. */
  readonly unit: Unit | null;
  readonly marks: readonly number[];
  readonly onChoose: (day: string) => void;
}

/** Totals, a plot, and the plot's table. */
export function UsageReport({ usage, measure, unit, marks, onChoose }: UsageReportProps) {
  const { period, split, days: items, parts } = usage;
  const { from, to } = period;
  const days = useMemo(() => toDays({ from, to }), [from, to]);
  const amount = useCallback((item: UsageItem) => getAmount(item, measure, unit), [measure, unit]);
  const series = useMemo(() => getSeries(parts, days, amount), [parts, days, amount]);
  const titles = { cost: 'Cost', tokens: 'Tokens', runs: 'Runs', failed: 'Failed runs', charge: `Charge in ${unit}` };
  const title = titles[measure];
  const currency = sumCosts(items).cost?.currency ?? null;
  const style = useMemo(
    () => (measure === 'cost' && currency !== null ? costStyle(currency) : undefined),
    [measure, currency],
  );
  const getName = useCallback(
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
      <UsagePlot
        label={`${caption}. The table has the same values.`}
        {...{ days, series, getName, marks, onChoose }}
        {...(style !== undefined && { style })}
      />
      <UsageTable
        caption={caption}
        days={days}
        columns={
          split === null
            ? plainColumns(items, days, unit)
            : splitColumns(series, getSeries(items, days, amount), getName)
        }
        {...(split !== null && style !== undefined && { format: style.format })}
      />
      {split === 'model' && (
        <p className="small muted">A run that calls several models counts for each of them, and once in the sums.</p>
      )}
    </>
  );
}

const costStyle = (currency: string): PlotStyle => {
  const format = (amount: number) => formatCost({ amount, currency });
  return { isStacked: true, format, formatAxis: formatCompact };
};

/** All measures of each day. */
function plainColumns(items: readonly UsageItem[], days: readonly string[], unit: Unit | null) {
  const column = (title: string, amount: (item: UsageItem) => number, isMinor = false) => {
    const [series = emptySeries] = getSeries(items, days, amount);
    return { title, series, isMinor };
  };
  return [
    column('Runs', ({ runs }) => runs),
    column('Tokens', ({ usage }) => usage.total_tokens),
    column('Input tokens', ({ usage }) => usage.input_tokens, true),
    column('Output tokens', ({ usage }) => usage.output_tokens, true),
    ...(unit === null ? [] : [column('Charge', ({ charged }) => charged[unit])]),
    ...(items.some(({ cost }) => cost !== null) ? [column('Cost', ({ cost }) => cost?.amount ?? 0)] : []),
  ];
}

const emptySeries: Series = { key: null, values: [], total: 0 };

/** The parts of the plot, and the whole days. */
function splitColumns(
  series: readonly Series[],
  [all = emptySeries]: readonly Series[],
  getName: (series: Series) => string,
) {
  return [...series.map((one) => ({ title: getName(one), series: one })), { title: 'All', series: all }];
}
