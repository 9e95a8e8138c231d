import type { CreatedPerson } from '@runwire/client';
import { api } from '../../app/api.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Form, SelectField, TextField } from '../../ui/form.tsx';
import { ROLE_CHOICES, type Role } from './role-choices.ts';

interface InviteDialogProps {
  readonly onClose: () => void;
  readonly onInvited: (person: CreatedPerson) => void;
}

export function InviteDialog({ onClose, onInvited }: InviteDialogProps) {
  return (
    <Dialog title="Invite a person" onClose={onClose}>
      <Form
        submitLabel="Invite"
        pendingLabel="Inviting…"
        onCancel={onClose}
        onSubmit={async (fields) => {
          const [email, name] = [fields.text('email'), fields.optional('name')];
          onInvited(await api().people.create({ email, name, role: fields.text('role') as Role }));
        }}
      >
        <p className="muted">The server sends no e-mail: you get a link, and give it to the person yourself.</p>
        <TextField label="E-mail" name="email" type="email" required />
        <TextField label="Name (optional)" name="name" maxLength={200} />
        <SelectField label="Role" name="role" choices={ROLE_CHOICES} defaultValue="developer" />
      </Form>
    </Dialog>
  );
}
