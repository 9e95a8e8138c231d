import type { WebhookEndpointWithSecret } from '@runwire/client';
import { api } from '../../app/api.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form.tsx';
import { EndpointFields, readEndpoint } from './endpoint-fields.tsx';

interface CreateEndpointDialogProps {
  readonly integration: string;
  readonly onClose: () => void;
  readonly onCreated: (endpoint: WebhookEndpointWithSecret) => void;
}

export function CreateEndpointDialog({ integration, onClose, onCreated }: CreateEndpointDialogProps) {
  return (
    <Dialog title="Add an endpoint" onClose={onClose}>
      <Form
        submitLabel="Add endpoint"
        pendingLabel="Adding…"
        onCancel={onClose}
        onSubmit={async (fields) =>
          onCreated(await api().webhooks.create({ apiIntegrationId: integration, ...readEndpoint(fields) }))
        }
      >
        <EndpointFields />
      </Form>
    </Dialog>
  );
}
