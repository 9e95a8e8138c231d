import type { WebhookEndpoint } from '@runwire/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { wholeList } from '../../app/paged-list.ts';
import { useCreateDialog } from '../../app/use-create-dialog.ts';
import { shorten } from '../../lib/shorten.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/feedback.tsx';
import { Nothing } from '../../ui/nothing.tsx';
import { Page } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { CreateEndpointDialog } from './create-endpoint-dialog.tsx';
import { EndpointState } from './endpoint-state.tsx';
import { SecretDialog } from './secret-dialog.tsx';
import { endpointsQuery, webhooksKey } from './webhook-queries.ts';
import './webhooks.css';
import { May } from '../../ui/may.tsx';

interface CreatedEndpoint {
  readonly endpointId: string;
  readonly secret: string;
}

const listColumns = (integration: string): readonly Column<WebhookEndpoint>[] => [
  {
    title: 'Endpoint',
    share: 2.5,
    cell: ({ endpointId, url, description }) => (
      <Link to="/integrations/$integration/webhooks/$endpoint" params={{ integration, endpoint: endpointId }}>
        <bdi>{shorten(description ?? nameHost(url))}</bdi>
        <span className="visually-hidden">, {endpointId}</span>
      </Link>
    ),
  },
  { title: 'State', cell: EndpointState },
  {
    title: 'Address',
    share: 2,
    isMinor: true,
    cell: ({ url }) => (url === null ? <Nothing /> : <bdi>{shorten(url)}</bdi>),
  },
  { title: 'Events', share: 1.5, isMinor: true, cell: ({ events }) => describeEvents(events) },
  { title: 'Created', isMinor: true, cell: ({ createdAt }) => <Time time={createdAt} age /> },
];

/** An endpoint without a description is called by its host. */
const nameHost = (url: string | null): string => (url === null ? 'No address' : new URL(url).host);

const describeEvents = ([first, ...others]: WebhookEndpoint['events']) => {
  if (first === '*') return 'all';
  return others.length === 0 ? first : `${first} and ${others.length} more`;
};

export function WebhooksPage() {
  const { integration } = useParams({ from: '/signed-in/integrations/$integration/webhooks' });
  const navigate = useNavigate();
  const client = useQueryClient();
  const list = wholeList(useQuery(endpointsQuery(integration)));
  const [isCreating, setCreating] = useCreateDialog('createWebhook');
  const [created, setCreated] = useState<CreatedEndpoint | null>(null);
  const create = (
    <May call="createWebhook">
      <button type="button" className="button button-primary" onClick={() => setCreating(true)}>
        Add endpoint
      </button>
    </May>
  );
  return (
    <Page
      title="Webhooks"
      lead="Events of this integration are posted to these addresses, signed, until they are accepted."
      {...(list.rows.length === 0 ? {} : { actions: create })}
    >
      <DataTable
        what="endpoints"
        list={list}
        columns={listColumns(integration)}
        rowKey={({ endpointId }) => endpointId}
        empty={
          <EmptyState title="No endpoints yet">
            <p>
              Add the address of your backend that shall know when a run ends. While you develop,{' '}
              <code>runwire webhooks listen</code> forwards events to your machine.
            </p>
            {create}
          </EmptyState>
        }
      />
      {isCreating && (
        <CreateEndpointDialog
          integration={integration}
          onClose={() => setCreating(false)}
          onCreated={({ endpointId, secret }) => {
            setCreating(false);
            setCreated({ endpointId, secret });
            void client.invalidateQueries({ queryKey: webhooksKey(integration) });
          }}
        />
      )}
      {created !== null && (
        <SecretDialog
          secret={created.secret}
          isRotated={false}
          onClose={() => {
            const params = { integration, endpoint: created.endpointId };
            void navigate({ to: '/integrations/$integration/webhooks/$endpoint', params });
          }}
        />
      )}
    </Page>
  );
}
