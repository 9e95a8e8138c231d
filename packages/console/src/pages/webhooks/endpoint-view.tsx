import type { WebhookEndpoint } from '@runwire/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../app/api.ts';
import { formatCount } from '../../lib/format.ts';
import { shorten } from '../../lib/shorten.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { May } from '../../ui/may.tsx';
import { Page } from '../../ui/page.tsx';
import { notify } from '../../ui/toasts.tsx';
import { Deliveries } from './deliveries.tsx';
import { EditEndpointDialog } from './edit-endpoint-dialog.tsx';
import { EndpointDetails } from './endpoint-details.tsx';
import { EndpointState } from './endpoint-state.tsx';
import { ReplayDialog } from './replay-dialog.tsx';
import { SecretDialog } from './secret-dialog.tsx';
import { webhooksKey } from './webhook-queries.ts';

interface EndpointViewProps {
  readonly integration: string;
  readonly endpoint: WebhookEndpoint;
}

type OpenDialog = 'edit' | 'rotate' | 'delete' | 'replay' | { readonly secret: string };

export function EndpointView({ integration, endpoint }: EndpointViewProps) {
  const { endpointId, url, description, active } = endpoint;
  const ids = { apiIntegrationId: integration, endpointId };
  const client = useQueryClient();
  const navigate = useNavigate();
  const [dialog, setDialog] = useState<OpenDialog | null>(null);
  const close = () => setDialog(null);
  const finish = (text: string) => {
    void client.invalidateQueries({ queryKey: webhooksKey(integration) });
    notify(text);
  };
  const { mutate, error, isPending, variables } = useMutation({
    mutationFn: async (action: 'test' | 'toggle') => {
      if (action === 'test') {
        await api().webhooks.test(ids);
        return finish('A test event is being sent. It is the first delivery in the list.');
      }
      await api().webhooks.update({ ...ids, active: !active });
      finish(active ? 'The endpoint is paused.' : 'The endpoint is active.');
    },
  });
  const act = (action: 'test' | 'toggle', label: string) => (
    <button
      type="button"
      className="button"
      aria-disabled={isPending}
      onClick={() => {
        if (!isPending) mutate(action);
      }}
    >
      {isPending && variables === action ? 'Sending…' : label}
    </button>
  );
  return (
    <Page
      title={shorten(description ?? url ?? 'No address', 80)}
      place={endpointId}
      lead={
        <span className="row" role="status">
          <EndpointState {...endpoint} />
        </span>
      }
      actions={
        <>
          {act('test', 'Send test')}
          <May call="updateWebhook">
            <button type="button" className="button" onClick={() => setDialog('edit')}>
              Change
            </button>
          </May>
          {act('toggle', active ? 'Pause' : 'Activate')}
          <May call="rotateWebhook">
            <button type="button" className="button" onClick={() => setDialog('rotate')}>
              Rotate secret
            </button>
          </May>
          <May call="deleteWebhook">
            <button type="button" className="button button-danger" onClick={() => setDialog('delete')}>
              Delete
            </button>
          </May>
        </>
      }
    >
      <div className="stack-wide">
        {error !== null && <ErrorNotice error={error} />}
        <EndpointDetails endpoint={endpoint} />
        <Deliveries integration={integration} endpointId={endpointId} onReplay={() => setDialog('replay')} />
      </div>
      {dialog === 'edit' && (
        <EditEndpointDialog
          integration={integration}
          endpoint={endpoint}
          onClose={close}
          onChanged={() => {
            close();
            finish('The endpoint is changed.');
          }}
        />
      )}
      {dialog === 'replay' && (
        <ReplayDialog
          integration={integration}
          endpointId={endpointId}
          onClose={close}
          onReplayed={(deliveries) => {
            close();
            finish(`${formatCount(deliveries, 'event')} will be sent once more.`);
          }}
        />
      )}
      {dialog === 'rotate' && (
        <ConfirmDialog
          title="Rotate the secret?"
          action="Rotate secret"
          pendingLabel="Rotating…"
          // The dialog is replaced by that of the secret.
          onClose={() => setDialog((open) => (open === 'rotate' ? null : open))}
          onConfirm={async () => {
            const { secret } = await api().webhooks.rotate(ids);
            setDialog({ secret });
            finish('The endpoint has a new secret.');
          }}
        >
          <p>The new and the old secret both sign for 24 hours. Put the new one into your backend within this time.</p>
        </ConfirmDialog>
      )}
      {dialog !== null && typeof dialog === 'object' && (
        <SecretDialog secret={dialog.secret} isRotated onClose={close} />
      )}
      {dialog === 'delete' && (
        <ConfirmDialog
          title="Delete the endpoint?"
          action="Delete endpoint"
          pendingLabel="Deleting…"
          onClose={close}
          onConfirm={async () => {
            await api().webhooks.delete(ids);
            await navigate({ to: '/integrations/$integration/webhooks', params: { integration } });
            client.removeQueries({ queryKey: [...webhooksKey(integration), endpointId] });
            finish('The endpoint is deleted.');
          }}
        >
          <p>No more events are sent to it. Its deliveries are deleted, also the pending ones.</p>
        </ConfirmDialog>
      )}
    </Page>
  );
}
