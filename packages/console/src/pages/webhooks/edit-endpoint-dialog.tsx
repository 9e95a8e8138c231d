import type { WebhookEndpoint } from '@runwire/client';
import { useState } from 'react';
import { api } from '../../app/api.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form.tsx';
import { EndpointFields, readEndpoint } from './endpoint-fields.tsx';

interface EditEndpointDialogProps {
  readonly integration: string;
  readonly endpoint: WebhookEndpoint;
  readonly onClose: () => void;
  readonly onChanged: () => void;
}

export function EditEndpointDialog({ integration, endpoint, onClose, onChanged }: EditEndpointDialogProps) {
  // The endpoint may be read again while the dialog is open.
  const [seen] = useState(endpoint);
  return (
    <Dialog title="Change the endpoint" onClose={onClose}>
      <Form
        submitLabel="Save"
        pendingLabel="Saving…"
        onCancel={onClose}
        onSubmit={async (fields) => {
          const ids = { apiIntegrationId: integration, endpointId: seen.endpointId };
          await api().webhooks.update({ ...ids, ...readEndpoint(fields) });
          onChanged();
        }}
      >
        <EndpointFields endpoint={seen} />
      </Form>
    </Dialog>
  );
}
