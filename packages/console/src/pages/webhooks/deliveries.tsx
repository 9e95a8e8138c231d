import type { WebhookDelivery } from '@runwire/client';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { api } from '../../app/api.ts';
import { usePagedList } from '../../app/paged-list.ts';
import { changedSearch } from '../../app/search.ts';
import { formatNumber } from '../../lib/format.ts';
import { shorten } from '../../lib/shorten.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { Status } from '../../ui/feedback.tsx';
import { Nothing } from '../../ui/nothing.tsx';
import { Time } from '../../ui/time.tsx';
import { DeliveryFilters, type DeliverySearch } from './delivery-filters.tsx';
import type { EventType } from './event-types.ts';
import { refreshMs, webhooksKey } from './webhook-queries.ts';

interface DeliveriesProps {
  readonly integration: string;
  readonly endpointId: string;
  readonly onReplay: () => void;
}

const ROUTE = '/integrations/$integration/webhooks/$endpoint';

const listColumns = (integration: string, endpointId: string): readonly Column<WebhookDelivery>[] => [
  {
    title: 'Event',
    share: 2,
    cell: ({ deliveryId, type }) => (
      <Link
        to="/integrations/$integration/webhooks/$endpoint/$delivery"
        params={{ integration, endpoint: endpointId, delivery: deliveryId }}
      >
        {type}
        <span className="visually-hidden">, {deliveryId}</span>
      </Link>
    ),
  },
  { title: 'Status', share: 1.4, cell: ({ status }) => <Status status={status} /> },
  { title: 'Attempts', isNumber: true, isMinor: true, cell: ({ attempts }) => formatNumber(attempts) },
  { title: 'Answer', share: 1.5, isMinor: true, cell: DeliveryAnswer },
  {
    title: 'Next attempt',
    share: 1.2,
    isMinor: true,
    cell: ({ nextAttemptAt }) => (nextAttemptAt === null ? <Nothing /> : <Time time={nextAttemptAt} age />),
  },
  { title: 'Created', share: 1.2, cell: ({ createdAt }) => <Time time={createdAt} age /> },
];

/** The answer's status, or why there was none. */
function DeliveryAnswer({ lastStatus, lastError }: WebhookDelivery) {
  if (lastStatus !== null) return lastStatus;
  return lastError === null ? <Nothing /> : <bdi title={lastError}>{shorten(lastError)}</bdi>;
}

/** The filters as the API takes them. */
const getFilters = ({ status, type, from, to }: DeliverySearch) => ({
  ...(status !== undefined && { status: status as WebhookDelivery['status'] }),
  ...(type !== undefined && { type: type as EventType }),
  ...(from !== undefined && { from }),
  ...(to !== undefined && { to }),
});

/** What was sent to an endpoint, the newest first. */
export function Deliveries({ integration, endpointId, onReplay }: DeliveriesProps) {
  const search = useSearch({ from: `/signed-in${ROUTE}` });
  const navigate = useNavigate({ from: ROUTE });
  const list = usePagedList(
    [...webhooksKey(integration), endpointId, 'deliveries', search],
    (signal) => {
      const input = { apiIntegrationId: integration, endpointId, limit: 100, ...getFilters(search) };
      return api().webhooks.deliveries(input, { signal });
    },
    { refetchMs: refreshMs },
  );
  const isFiltered = Object.keys(search).length > 0;
  return (
    <section aria-labelledby="deliveries">
      <div className="spread webhook-head">
        <h2 id="deliveries">Deliveries</h2>
        <button type="button" className="button" onClick={onReplay}>
          Replay a period
        </button>
      </div>
      <DeliveryFilters
        search={search}
        onChange={(changed) => void navigate({ search: changedSearch(changed), replace: true, resetScroll: false })}
        onClear={() => void navigate({ search: {}, replace: true, resetScroll: false })}
      />
      <DataTable
        what="deliveries"
        list={list}
        columns={listColumns(integration, endpointId)}
        rowKey={({ deliveryId }) => deliveryId}
        empty={
          <p className="muted">
            {isFiltered ? 'No delivery matches the filters.' : 'Nothing was sent yet. Send a test, or start a run.'}
          </p>
        }
      />
    </section>
  );
}
