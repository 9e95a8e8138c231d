import type { Person } from '@runwire/client';
import { api } from '../../app/api.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Form, SelectField } from '../../ui/form.tsx';
import { ROLE_CHOICES, type Role } from './role-choices.ts';

interface EditPersonDialogProps {
  readonly person: Person;
  readonly name: string;
  readonly onClose: () => void;
  readonly onSaved: () => Promise<void>;
}

export function EditPersonDialog({ person, name, onClose, onSaved }: EditPersonDialogProps) {
  return (
    <Dialog title={`Role of ${name}`} onClose={onClose}>
      <Form
        submitLabel="Save"
        pendingLabel="Saving…"
        onCancel={onClose}
        onSubmit={async (fields) => {
          await api().people.update({ personId: person.personId, role: fields.text('role') as Role });
          await onSaved();
        }}
      >
        <p className="muted">A changed role counts on every server within 5 seconds.</p>
        <SelectField label="Role" name="role" choices={ROLE_CHOICES} defaultValue={person.role} />
      </Form>
    </Dialog>
  );
}
