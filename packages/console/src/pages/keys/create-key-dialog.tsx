import type { CreatedApiKey } from '@runwire/client';
import { api } from '../../app/api.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Form, SelectField, TextField } from '../../ui/form.tsx';

interface CreateKeyDialogProps {
  readonly onClose: () => void;
  readonly onCreated: (key: CreatedApiKey) => void;
}

const LIFETIMES = [
  { value: '', label: 'Never' },
  { value: '30', label: 'After 30 days' },
  { value: '90', label: 'After 90 days' },
  { value: '365', label: 'After one year' },
];

const DAY_MS = 86_400_000;

export function CreateKeyDialog({ onClose, onCreated }: CreateKeyDialogProps) {
  return (
    <Dialog title="Create an API key" onClose={onClose}>
      <Form
        submitLabel="Create key"
        pendingLabel="Creating…"
        onCancel={onClose}
        onSubmit={async (fields) => {
          const days = fields.number('lifetime');
          const created = await api().keys.create({
            name: fields.text('name'),
            expiresAt: days === null ? undefined : new Date(Date.now() + days * DAY_MS).toISOString(),
          });
          onCreated(created);
        }}
      >
        <TextField label="Name" name="name" hint="For example the program that will use it." maxLength={200} required />
        <SelectField label="Expires" name="lifetime" choices={LIFETIMES} />
      </Form>
    </Dialog>
  );
}
