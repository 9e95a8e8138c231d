import { formatNumber } from '../../lib/format.ts';
import type { Unit, UsageItem } from './usage-data.ts';

interface UsageTotalsProps {
  readonly items: readonly UsageItem[];
  readonly unit: Unit | null;
}

/** What the whole period adds up to. */
export function UsageTotals({ items, unit }: UsageTotalsProps) {
  const sum = (amount: (item: UsageItem) => number) =>
    formatNumber(items.reduce((total, item) => total + amount(item), 0));
  const totals = [
    { title: 'Runs', value: sum(({ runs }) => runs) },
    { title: 'Tokens', value: sum(({ usage }) => usage.total_tokens) },
    { title: 'Input tokens', value: sum(({ usage }) => usage.input_tokens) },
    { title: 'Cached tokens', value: sum(({ usage }) => usage.cached_tokens) },
    { title: 'Output tokens', value: sum(({ usage }) => usage.output_tokens) },
    ...(unit === null ? [] : [{ title: `Charge in ${unit}`, value: sum(({ charged }) => charged[unit]) }]),
  ];
  return (
    <dl className="totals">
      {totals.map(({ title, value }) => (
        <div key={title}>
          <dt>{title}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
