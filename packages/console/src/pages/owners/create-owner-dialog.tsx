import type { CreatedOwner } from '@runwire/client';
import { api } from '../../app/api.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Form, TextField } from '../../ui/form.tsx';

interface CreateOwnerDialogProps {
  readonly onClose: () => void;
  readonly onCreated: (owner: CreatedOwner) => void;
}

export function CreateOwnerDialog({ onClose, onCreated }: CreateOwnerDialogProps) {
  return (
    <Dialog title="Create an owner" onClose={onClose}>
      <Form
        submitLabel="Create owner"
        pendingLabel="Creating…"
        onCancel={onClose}
        onSubmit={async (fields) => {
          const name = fields.optional('name');
          onCreated(await api().owners.create({ email: fields.text('email'), name }));
        }}
      >
        <p className="muted">
          The server sends no e-mail: you get a link, and give it to the owner's first person yourself.
        </p>
        <TextField label="E-mail" name="email" type="email" required />
        <TextField label="Name (optional)" name="name" maxLength={200} />
      </Form>
    </Dialog>
  );
}
