import type { RunRecord } from '@runwire/client';
import { formatCost, formatDuration, formatNumber } from '../../lib/format.ts';
import { Nothing } from '../../ui/nothing.tsx';
import { getDuration, isActive } from '../runs/run-state.ts';
import type { Comparison } from './comparison-query.ts';

interface FiguresTableProps {
  readonly compared: Comparison;
  readonly names: readonly [string, string];
}

interface Figure {
  readonly title: string;
  readonly values: readonly [number | null, number | null];
  readonly format: (value: number) => string;
}

const ended = (run: RunRecord) => (isActive(run) ? null : getDuration(run));

function toFigures({ runs: [left, right], usage }: Comparison): readonly Figure[] {
  const currency = left.cost?.currency ?? right.cost?.currency;
  return [
    {
      title: 'Tokens',
      values: [usage.left?.total_tokens ?? null, usage.right?.total_tokens ?? null],
      format: formatNumber,
    },
    {
      title: 'Model calls',
      values: [usage.left?.request_count ?? null, usage.right?.request_count ?? null],
      format: formatNumber,
    },
    ...(currency === undefined
      ? []
      : [
          {
            title: 'Cost',
            values: [left.cost?.amount ?? null, right.cost?.amount ?? null] as const,
            format: (amount: number) => formatCost({ amount, currency }),
          },
        ]),
    { title: 'Time', values: [ended(left), ended(right)], format: formatDuration },
    { title: 'First output', values: [left.firstTokenMs, right.firstTokenMs], format: formatDuration },
  ];
}

/** Tokens, cost and time of two runs. */
export function FiguresTable({ compared, names }: FiguresTableProps) {
  return (
    <div className="table-frame">
      <table className="table figures">
        <caption className="visually-hidden">Tokens, cost and time</caption>
        <thead>
          <tr>
            <th scope="col">
              <span className="visually-hidden">Figure</span>
            </th>
            {[...names, 'Change'].map((name) => (
              <th key={name} scope="col" className="end">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {toFigures(compared).map(({ title, values: [left, right], format }) => (
            <tr key={title} data-row>
              <th scope="row">{title}</th>
              {[left, right].map((value, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the sides have no other identity.
                <td key={index} className="end">
                  {value === null ? <Nothing /> : format(value)}
                </td>
              ))}
              <td className="end">
                {left === null || right === null ? <Nothing /> : toDifference(right - left, format)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function toDifference(difference: number, format: (value: number) => string): string {
  if (difference === 0) return 'none';
  return `${difference > 0 ? '+' : '−'}${format(Math.abs(difference))}`;
}
