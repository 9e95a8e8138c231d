import { useQuery } from '@tanstack/react-query';
import { type ChargedRun, chargeQuery } from '../app/queries.ts';
import { formatNumber } from '../lib/format.ts';

/** What a run was charged, in a few words. */
export function Charge({ run }: { readonly run: ChargedRun }) {
  const { data: record, isPending, error } = useQuery(chargeQuery(run));
  if (isPending) return 'loading…';
  if (error !== null && record === undefined) return 'not known, because the usage could not be read';
  if (record == null) return 'not known, because the run has no usage record';
  if (record.rerun) return 'none, because it is a rerun';
  if (record.charged === null) return record.status === 'running' ? 'not yet' : 'none, because allowances are off';
  const { amount, unit } = record.charged;
  return `${formatNumber(amount)} ${amount === 1 ? unit.replace(/s$/, '') : unit}`;
}
