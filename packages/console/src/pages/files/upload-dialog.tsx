import { useId } from 'react';
import { InputError } from '../../app/errors.ts';
import { formatCount } from '../../lib/format.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Form, TextField } from '../../ui/form.tsx';
import { ROOT } from './file-path.ts';

interface UploadDialogProps {
  readonly folder: string;
  /** Files that were dropped. If there are none, the dialog asks for them. */
  readonly files: readonly File[];
  readonly onClose: () => void;
  readonly onChosen: (folder: string, files: readonly File[]) => void;
}

/** Asks for the files and their folder. */
export function UploadDialog({ folder, files, onClose, onChosen }: UploadDialogProps) {
  const id = useId();
  return (
    <Dialog title="Upload files" onClose={onClose}>
      <Form
        submitLabel="Upload"
        pendingLabel="Starting…"
        onCancel={onClose}
        isGuarded={false}
        onSubmit={async (fields) => {
          const target = fields.exact('folder').replace(/\/+$/, '');
          if (!target.startsWith(`${ROOT}/`)) throw new InputError(`Name a folder below ${ROOT}/.`, 'folder');
          onChosen(target, files.length > 0 ? files : fields.files('files'));
        }}
      >
        <TextField
          label="Folder"
          name="folder"
          isCode
          defaultValue={folder === ROOT ? `${ROOT}/` : folder}
          hint={`A folder below ${ROOT}/. A new one is made with its first file.`}
          required
        />
        {files.length > 0 ? (
          <p>{formatCount(files.length, 'file')} chosen.</p>
        ) : (
          <div className="field">
            <label htmlFor={id}>Files</label>
            <input id={id} name="files" type="file" className="input file-input" multiple required />
          </div>
        )}
        <p className="muted small">A file with the same name is replaced. A file has at most 20 MiB.</p>
      </Form>
    </Dialog>
  );
}
