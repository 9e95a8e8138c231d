import { type CreatedApiKey, includesRole } from '@runwire/client';
import { useQuery } from '@tanstack/react-query';
import { api } from '../../app/api.ts';
import { integrationsQuery, meQuery } from '../../app/queries.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Form, SelectField, TextField } from '../../ui/form.tsx';
import { ROLE_CHOICES, type Role } from '../people/role-choices.ts';

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

const ALL = { value: '', label: 'All integrations' };

export function CreateKeyDialog({ onClose, onCreated }: CreateKeyDialogProps) {
  const { data: me } = useQuery(meQuery);
  const { data: integrations = [] } = useQuery(integrationsQuery);
  const role = me?.key.role ?? 'viewer';
  const reaches = integrations.map(({ apiIntegrationId, name }) => ({
    value: apiIntegrationId,
    label: name ?? apiIntegrationId,
  }));
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
            role: fields.text('role') as Role,
            integrations: fields.optional('integration') === undefined ? null : [fields.text('integration')],
            expiresAt: days === null ? undefined : new Date(Date.now() + days * DAY_MS).toISOString(),
          });
          onCreated(created);
        }}
      >
        <TextField label="Name" name="name" hint="For example the program that will use it." maxLength={200} required />
        <SelectField
          label="Role"
          name="role"
          choices={ROLE_CHOICES.filter(({ value }) => includesRole(role, value))}
          defaultValue="developer"
        />
        <SelectField label="Reaches" name="integration" choices={[ALL, ...reaches]} />
        <SelectField label="Expires" name="lifetime" choices={LIFETIMES} />
      </Form>
    </Dialog>
  );
}
