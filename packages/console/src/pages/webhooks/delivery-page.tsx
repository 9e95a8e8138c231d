import type { WebhookDeliveryWithBody } from '@runwire/client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { api } from '../../app/api.ts';
import { formatNumber } from '../../lib/format.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Loading, Status } from '../../ui/feedback.tsx';
import { JsonView } from '../../ui/json-view.tsx';
import { Nothing } from '../../ui/nothing.tsx';
import { Page } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { notify } from '../../ui/toasts.tsx';
import { type DeliveryIds, deliveryQuery, webhooksKey } from './webhook-queries.ts';

const ROUTE = '/integrations/$integration/webhooks/$endpoint/$delivery';

export function DeliveryPage() {
  const { integration, endpoint, delivery } = useParams({ from: `/signed-in${ROUTE}` });
  const ids = { apiIntegrationId: integration, endpointId: endpoint, deliveryId: delivery };
  const { data, error, refetch } = useQuery(deliveryQuery(ids));
  if (data !== undefined) return <DeliveryView key={delivery} ids={ids} delivery={data} />;
  return (
    <Page title="Delivery">
      {error === null ? <Loading what="the delivery" /> : <ErrorNotice error={error} onRetry={() => void refetch()} />}
    </Page>
  );
}

interface DeliveryViewProps {
  readonly ids: DeliveryIds;
  readonly delivery: WebhookDeliveryWithBody;
}

function DeliveryView({ ids, delivery }: DeliveryViewProps) {
  const { type, status, createdAt, body, answer } = delivery;
  const { apiIntegrationId: integration, endpointId } = ids;
  const client = useQueryClient();
  const navigate = useNavigate();
  const { mutate, error, isPending } = useMutation({
    mutationFn: async () => {
      const { deliveryId } = await api().webhooks.redeliver({ ...ids });
      void client.invalidateQueries({ queryKey: webhooksKey(integration) });
      await navigate({ to: ROUTE, params: { integration, endpoint: endpointId, delivery: deliveryId } });
      notify('This is the new delivery of the same event.');
    },
  });
  return (
    <Page
      title={type}
      place={ids.deliveryId}
      lead={
        <span className="row" role="status">
          <Status status={status} />
          <Time time={createdAt} age />
        </span>
      }
      actions={
        <>
          <Link
            className="button"
            to="/integrations/$integration/webhooks/$endpoint"
            params={{ integration, endpoint: endpointId }}
          >
            All deliveries
          </Link>
          <button type="button" className="button" aria-disabled={isPending} onClick={() => !isPending && mutate()}>
            {isPending ? 'Sending…' : 'Send once more'}
          </button>
        </>
      }
    >
      <div className="stack-wide">
        {error !== null && <ErrorNotice error={error} />}
        <DeliveryDetails integration={integration} delivery={delivery} />
        <section className="stack-tight">
          <h2>Answer</h2>
          {answer === null || answer === '' ? (
            <p className="muted">{answer === null ? 'There was no answer.' : 'The answer was empty.'}</p>
          ) : (
            <JsonView text={answer} label="answer" />
          )}
        </section>
        <section className="stack-tight">
          <h2>Body</h2>
          <JsonView text={body} label="body" />
        </section>
      </div>
    </Page>
  );
}

interface DeliveryDetailsProps {
  readonly integration: string;
  readonly delivery: WebhookDeliveryWithBody;
}

function DeliveryDetails({ integration, delivery }: DeliveryDetailsProps) {
  const { eventId, runId, attempts, lastStatus, lastError, nextAttemptAt, createdAt, deliveredAt } = delivery;
  return (
    <section className="card" aria-label="Details">
      <dl className="definition">
        <dt>Attempts</dt>
        <dd>{formatNumber(attempts)}</dd>
        <dt>Last status</dt>
        <dd>{lastStatus ?? <Nothing />}</dd>
        <dt>Last error</dt>
        <dd>{lastError === null ? <Nothing /> : <bdi>{lastError}</bdi>}</dd>
        <dt>Next attempt</dt>
        <dd>{nextAttemptAt === null ? <Nothing /> : <Time time={nextAttemptAt} />}</dd>
        <dt>Run</dt>
        <dd>
          {runId === null ? (
            <Nothing />
          ) : (
            <Link to="/integrations/$integration/runs/$run" params={{ integration, run: runId }}>
              {runId}
            </Link>
          )}
        </dd>
        <dt>Event id</dt>
        <dd className="row">
          <code>{eventId}</code> <CopyButton text={eventId} label="Copy event id" />
        </dd>
        <dt>Created</dt>
        <dd>
          <Time time={createdAt} />
        </dd>
        <dt>Delivered</dt>
        <dd>{deliveredAt === null ? <Nothing /> : <Time time={deliveredAt} />}</dd>
      </dl>
    </section>
  );
}
