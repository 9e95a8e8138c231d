import type { File as StoredFile } from '@runwire/client';
import { api } from '../../app/api.ts';
import { formatCount } from '../../lib/format.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { notify } from '../../ui/toasts.tsx';
import { isFolderGone } from './all-items.ts';

interface DeleteChosenDialogProps {
  readonly integration: string;
  readonly items: readonly StoredFile[];
  readonly onClose: () => void;
  readonly onDeleted: () => Promise<unknown>;
}

const MAX_NAMES = 10;

export function DeleteChosenDialog({ integration, items, onClose, onDeleted }: DeleteChosenDialogProps) {
  const count = formatCount(items.length, 'item');
  const remove = async () => {
    for (const { path, kind } of items) {
      try {
        await api().files.delete({ apiIntegrationId: integration, path, recursive: kind === 'folder' });
      } catch (error) {
        // It was deleted together with its folder, or by another person.
        if (!isFolderGone(error)) throw error;
      }
    }
    await onDeleted();
    notify(items.length === 1 ? '1 item is deleted.' : `${count} are deleted.`);
  };
  return (
    <ConfirmDialog
      title={`Delete ${count}?`}
      action={`Delete ${count}`}
      pendingLabel="Deleting…"
      onClose={onClose}
      onConfirm={remove}
    >
      <ul>
        {items.slice(0, MAX_NAMES).map(({ path, name, kind }) => (
          <li key={path}>
            <bdi>{name}</bdi>
            {kind === 'folder' && ' and everything in it'}
          </li>
        ))}
        {items.length > MAX_NAMES && <li>{formatCount(items.length - MAX_NAMES, 'other')}</li>}
      </ul>
      <p>They are deleted for all members. This cannot be undone.</p>
    </ConfirmDialog>
  );
}
