import type { File as StoredFile } from '@runwire/client';
import { api } from '../../app/api.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { notify } from '../../ui/toasts.tsx';
import { isolated } from './file-path.ts';

interface DeleteFileDialogProps {
  readonly integration: string;
  readonly file: StoredFile;
  readonly onClose: () => void;
  readonly onDeleted: () => Promise<unknown>;
}

export function DeleteFileDialog({ integration, file, onClose, onDeleted }: DeleteFileDialogProps) {
  const { name, path, kind } = file;
  const isFolder = kind === 'folder';
  return (
    <ConfirmDialog
      title={`Delete ${isolated(name)}?`}
      action={isFolder ? 'Delete folder' : 'Delete file'}
      pendingLabel="Deleting…"
      onClose={onClose}
      onConfirm={async () => {
        await api().files.delete({ apiIntegrationId: integration, path, recursive: isFolder });
        await onDeleted();
        notify(`${isolated(name)} is deleted.`);
      }}
    >
      <p>
        <bdi>
          <code>{path}</code>
        </bdi>
        {isFolder ? ' and everything in it is deleted, for all members.' : ' is deleted, for all members.'} This cannot
        be undone.
      </p>
    </ConfirmDialog>
  );
}
