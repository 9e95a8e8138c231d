import { formatCost, formatNumber, formatShare } from '../../lib/format.ts';
import { FactList } from '../../ui/fact-list.tsx';
import { sumCosts, type Unit, type UsageItem } from './usage-data.ts';

interface UsageTotalsProps {
  readonly items: readonly UsageItem[];
  readonly unit: Unit | null;
}

/** What the whole period adds up to. Money is first, if models have prices. */
export function UsageTotals({ items, unit }: UsageTotalsProps) {
  const add = (amount: (item: UsageItem) => number) => items.reduce((total, item) => total + amount(item), 0);
  const sum = (amount: (item: UsageItem) => number) => formatNumber(add(amount));
  const { cost, missingDays } = sumCosts(items);
  const runs = add((item) => item.runs);
  const facts = [
    ...(cost === null
      ? []
      : [
          {
            title: 'Cost',
            value: formatCost(cost),
            ...(missingDays > 0 && { detail: `without ${missingDays === 1 ? 'one day' : `${missingDays} days`}` }),
          },
        ]),
    { title: 'Runs', value: formatNumber(runs) },
    { title: 'Failed', value: runs === 0 ? null : formatShare(add(({ failed }) => failed) / runs) },
    { title: 'Tokens', value: sum(({ usage }) => usage.total_tokens) },
    { title: 'Input tokens', value: sum(({ usage }) => usage.input_tokens) },
    { title: 'Cached tokens', value: sum(({ usage }) => usage.cached_tokens) },
    { title: 'Output tokens', value: sum(({ usage }) => usage.output_tokens) },
    ...(unit === null ? [] : [{ title: `Charge in ${unit}`, value: sum(({ charged }) => charged[unit]) }]),
  ];
  return <FactList facts={facts} />;
}
