import type { Overview } from '@runwire/client';
import { formatCost, formatDuration, formatNumber, formatShare } from '../../lib/format.ts';
import { FactList } from '../../ui/fact-list.tsx';
import type { Measures } from './overview-query.ts';

type Show = (measures: Measures) => string | null;

const FACTS: readonly (readonly [string, Show])[] = [
  ['Runs', ({ runs }) => formatNumber(runs)],
  ['Failed', ({ runs, failed }) => (runs === 0 ? null : formatShare(failed / runs))],
  ['Duration, p50', ({ durationMs }) => (durationMs === null ? null : formatDuration(durationMs.p50))],
  ['Duration, p95', ({ durationMs }) => (durationMs === null ? null : formatDuration(durationMs.p95))],
  ['First output, p50', ({ firstTokenMs }) => (firstTokenMs === null ? null : formatDuration(firstTokenMs.p50))],
];
const COST: readonly [string, Show] = ['Cost', ({ cost }) => (cost === null ? null : formatCost(cost))];

type Figures = Pick<Overview, 'measures' | 'before'>;

/** True if models have prices. */
export const hasCosts = ({ measures, before }: Figures): boolean => measures.cost !== null || before.cost !== null;

interface MeasureStripProps extends Figures {
  /** Strips below each other have the same columns. */
  readonly hasCost: boolean;
}

/** The figures of 24 hours, each with that of the 24 hours before. */
export function MeasureStrip({ measures, before, hasCost }: MeasureStripProps) {
  const facts = [...FACTS, ...(hasCost ? [COST] : [])].map(([title, show]) => ({
    title,
    value: show(measures),
    detail: `before: ${show(before) ?? 'none'}`,
  }));
  return <FactList facts={facts} />;
}
