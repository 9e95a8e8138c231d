import { NotFoundError, type File as StoredFile } from '@runwire/client';
import { api } from '../../app/api.ts';
import { InputError } from '../../app/errors.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Form, TextField } from '../../ui/form.tsx';
import { notify } from '../../ui/toasts.tsx';
import { isolated } from './file-path.ts';

interface RenameDialogProps {
  readonly integration: string;
  readonly file: StoredFile;
  readonly onClose: () => void;
  readonly onRenamed: () => Promise<unknown>;
}

/** The API has no operation for it, so the file is stored under the other name and then deleted under its own. */
export function RenameDialog({ integration, file, onClose, onRenamed }: RenameDialogProps) {
  const { name, path, contentType } = file;
  const folder = path.slice(0, path.lastIndexOf('/'));
  const rename = async (to: string) => {
    if (to === name) throw new InputError('Type another name.', 'name');
    if (to.includes('/')) throw new InputError('A name must not contain `/`.', 'name');
    const target = { apiIntegrationId: integration, path: `${folder}/${to}` };
    if (await exists(target))
      throw new InputError(`The folder has an item with the name ${isolated(to)} already.`, 'name');
    const answer = await api().files.content({ apiIntegrationId: integration, path });
    const content = new Blob([await answer.arrayBuffer()], { type: contentType ?? '' });
    await api().upload(content, { apiIntegrationId: integration, folder, name: to });
    await api().files.delete({ apiIntegrationId: integration, path });
    await onRenamed();
    notify(`${isolated(name)} is now ${isolated(to)}.`);
    onClose();
  };
  return (
    <Dialog title={`Rename ${isolated(name)}`} onClose={onClose}>
      <Form
        submitLabel="Rename"
        pendingLabel="Renaming…"
        onCancel={onClose}
        onSubmit={(fields) => rename(fields.exact('name'))}
      >
        <TextField label="Name" name="name" defaultValue={name} maxLength={255} required isCode />
        <p className="muted small">Messages and instructions that name the file keep its earlier name.</p>
      </Form>
    </Dialog>
  );
}

async function exists(place: { readonly apiIntegrationId: string; readonly path: string }): Promise<boolean> {
  try {
    await api().files.head(place);
    return true;
  } catch (error) {
    if (error instanceof NotFoundError) return false;
    throw error;
  }
}
