import type { Erasure } from '@runwire/client';
import { useQueryClient } from '@tanstack/react-query';
import { api } from '../../app/api.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { erasureQuery } from './member-queries.ts';

interface EraseDialogProps {
  readonly integration: string;
  readonly consumerId: string;
  readonly onClose: () => void;
  readonly onErased: () => void;
}

export function EraseDialog({ integration, consumerId, onClose, onErased }: EraseDialogProps) {
  const client = useQueryClient();
  return (
    <ConfirmDialog
      title="Erase the member?"
      action="Erase member"
      pendingLabel="Starting the erasure…"
      typeName={consumerId}
      onClose={onClose}
      onConfirm={async () => {
        const erasure = await api().members.delete({ apiIntegrationId: integration, consumerId, erase: true });
        client.setQueryData(erasureQuery(integration, consumerId).queryKey, erasure as Erasure);
        onErased();
        await client.invalidateQueries({ queryKey: ['members', integration], refetchType: 'none' });
      }}
    >
      <p>
        Everything that is stored of this person is deleted: chats, messages, attachments, files and the texts of runs.
        Active runs are stopped. Usage records are kept under another id. This cannot be undone.
      </p>
    </ConfirmDialog>
  );
}
