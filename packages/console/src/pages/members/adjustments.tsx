import type { Adjustment } from '@runwire/client';
import { api } from '../../app/api.ts';
import { usePagedList } from '../../app/paged-list.ts';
import { formatNumber } from '../../lib/format.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { Nothing } from '../../ui/nothing.tsx';
import { Time } from '../../ui/time.tsx';

interface AdjustmentsProps {
  readonly integration: string;
  readonly consumerId: string;
}

const signed = (amount: number) => (amount > 0 ? `+${formatNumber(amount)}` : formatNumber(amount));

const COLUMNS: readonly Column<Adjustment>[] = [
  { title: 'Time', share: 1.2, cell: ({ createdAt }) => <Time time={createdAt} age /> },
  { title: 'Applied', isNumber: true, cell: ({ applied, unit }) => `${signed(applied)} ${unit}` },
  { title: 'Asked for', isNumber: true, isMinor: true, cell: ({ amount, unit }) => `${signed(amount)} ${unit}` },
  {
    title: 'Reason',
    share: 2,
    cell: ({ reason }) => (reason === null ? <Nothing /> : <bdi title={reason}>{reason}</bdi>),
  },
];

/** What was corrected, newest first. */
export function Adjustments({ integration, consumerId }: AdjustmentsProps) {
  const list = usePagedList(['adjustments', integration, consumerId], (signal) =>
    api().members.adjustments({ apiIntegrationId: integration, consumerId, limit: 200 }, { signal }),
  );
  return (
    <section className="member-part" aria-labelledby="adjustments">
      <h2 id="adjustments">Adjustments</h2>
      <DataTable
        what="adjustments"
        list={list}
        columns={COLUMNS}
        rowKey={({ adjustmentId }) => adjustmentId}
        empty={<p className="muted">The usage of this member was not adjusted yet.</p>}
      />
    </section>
  );
}
