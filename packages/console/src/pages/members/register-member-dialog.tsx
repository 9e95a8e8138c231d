import type { Member } from '@runwire/client';
import { api } from '../../app/api.ts';
import { InputError } from '../../app/errors.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { CheckField, Form, TextField } from '../../ui/form.tsx';
import { MemberFields } from './member-fields.tsx';
import { readMemberFields } from './member-input.ts';
import { isMemberMissing } from './member-queries.ts';

interface RegisterMemberDialogProps {
  readonly integration: string;
  readonly onClose: () => void;
  readonly onRegistered: (member: Member) => void;
}

/** A path of an address cannot end with `.` or `..`. */
const ID = /^(?!\.{1,2}$)\P{Cc}{1,256}$/u;

/** A request for an id that exists would change that member, so the dialog looks for it first. */
async function refuseKnownId(apiIntegrationId: string, consumerId: string): Promise<void> {
  if (await isKnown(apiIntegrationId, consumerId)) {
    throw new InputError('A member with this id exists already. Open it in the list to change it.', 'consumerId');
  }
}

/** A search first: browsers report every 404 in their console. */
async function isKnown(apiIntegrationId: string, consumerId: string): Promise<boolean> {
  const { items, nextCursor } = await api().members.list({ apiIntegrationId, q: consumerId, limit: 200 }).page();
  if (items.some((member) => member.consumerId === consumerId)) return true;
  if (nextCursor === null) return false;
  return await api()
    .members.get({ apiIntegrationId, consumerId })
    .then(
      () => true,
      (error) => {
        if (isMemberMissing(error)) return false;
        throw error;
      },
    );
}

export function RegisterMemberDialog({ integration, onClose, onRegistered }: RegisterMemberDialogProps) {
  return (
    <Dialog title="Register a member" onClose={onClose}>
      <Form
        submitLabel="Register member"
        pendingLabel="Registering…"
        onCancel={onClose}
        onSubmit={async (fields) => {
          const consumerId = fields.text('consumerId');
          if (ID.exec(consumerId) === null) {
            throw new InputError(
              'The id must have 1 to 256 characters, no control characters, and not be `.` or `..`.',
              'consumerId',
            );
          }
          const values = readMemberFields(fields);
          await refuseKnownId(integration, consumerId);
          const input = { apiIntegrationId: integration, consumerId, active: fields.checked('active'), ...values };
          onRegistered(await api().members.put(input));
        }}
      >
        <TextField
          label="Id"
          name="consumerId"
          hint="The consumerId that your backend sends for this person. It cannot be changed later."
          isCode
          required
        />
        <MemberFields integration={integration} />
        <CheckField label="Active" name="active" hint="An inactive member cannot start runs." defaultChecked />
      </Form>
    </Dialog>
  );
}
