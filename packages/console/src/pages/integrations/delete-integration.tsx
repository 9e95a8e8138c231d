import type { Integration } from '@runwire/client';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../app/api.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { notify } from '../../ui/toasts.tsx';

/** Control and format characters, and spaces at the ends: a person cannot type or see them. */
const UNTYPABLE = /\p{C}|[\u2028\u2029]|^\s|\s$/u;

/** What the person types to confirm. */
const nameToType = ({ name, apiIntegrationId }: Integration) =>
  name === null || UNTYPABLE.test(name) ? apiIntegrationId : name;

interface DeleteIntegrationProps {
  readonly integration: Integration;
}

export function DeleteIntegration({ integration }: DeleteIntegrationProps) {
  const [isOpen, setOpen] = useState(false);
  const client = useQueryClient();
  const navigate = useNavigate();
  const { apiIntegrationId, name } = integration;
  return (
    <section className="card stack" aria-labelledby="delete-integration">
      <div className="stack-tight">
        <h2 id="delete-integration">Delete this integration</h2>
        <p className="muted">Its requests are refused from then on. This cannot be undone.</p>
      </div>
      <div>
        <button type="button" className="button button-danger" onClick={() => setOpen(true)}>
          Delete integration
        </button>
      </div>
      {isOpen && (
        <ConfirmDialog
          title="Delete this integration?"
          action="Delete integration"
          pendingLabel="Deleting…"
          typeName={nameToType(integration)}
          onClose={() => setOpen(false)}
          onConfirm={async () => {
            await api().integrations.delete({ apiIntegrationId });
            await navigate({ to: '/integrations' });
            client.removeQueries({ queryKey: ['integrations', apiIntegrationId] });
            void client.invalidateQueries({ queryKey: ['integrations'], exact: true });
            notify(`The integration ${name ?? apiIntegrationId} is deleted.`);
          }}
        >
          <p>You lose:</p>
          <ul className="lost">
            <li>every request of your backend with this id, which is refused from now on</li>
            <li>its chats, runs and members, which cannot be read any more</li>
            <li>its files and attachments, which are deleted after a day</li>
            <li>
              its id <code>{apiIntegrationId}</code>, which can never be used again
            </li>
          </ul>
        </ConfirmDialog>
      )}
    </section>
  );
}
