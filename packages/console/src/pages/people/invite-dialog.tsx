import type { CreatedOwner } from '@runwire/client';
import { api } from '../../app/api.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Form, TextField } from '../../ui/form.tsx';

interface InviteDialogProps {
  readonly onClose: () => void;
  readonly onInvited: (owner: CreatedOwner) => void;
}

export function InviteDialog({ onClose, onInvited }: InviteDialogProps) {
  return (
    <Dialog title="Invite a person" onClose={onClose}>
      <Form
        submitLabel="Invite"
        pendingLabel="Inviting…"
        onCancel={onClose}
        onSubmit={async (fields) => {
          const name = fields.optional('name');
          onInvited(await api().owners.create({ email: fields.text('email'), name }));
        }}
      >
        <p className="muted">The server sends no e-mail: you get a link, and give it to the person yourself.</p>
        <TextField label="E-mail" name="email" type="email" required />
        <TextField label="Name (optional)" name="name" maxLength={200} />
      </Form>
    </Dialog>
  );
}
