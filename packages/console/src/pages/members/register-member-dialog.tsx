import type { Member } from '@runwire/client';
import { api } from '../../app/api.ts';
import { InputError } from '../../app/errors.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { CheckField, Form, TextField } from '../../ui/form.tsx';
import { MemberFields } from './member-fields.tsx';
import { readMemberFields } from './member-input.ts';

interface RegisterMemberDialogProps {
  readonly integration: string;
  readonly onClose: () => void;
  readonly onRegistered: (member: Member) => void;
}

/** A path of an address cannot end with `.` or `..`. */
const ID = /^(?!\.{1,2}$)\P{Cc}{1,256}$/u;

/** A request for an id that exists would change that member, so the dialog looks for it first. */
async function refuseKnownId(apiIntegrationId: string, consumerId: string): Promise<void> {
  for await (const member of api().members.list({ apiIntegrationId, q: consumerId, limit: 200 })) {
    if (member.consumerId === consumerId) {
      throw new InputError('A member with this id exists already. Open it in the list to change it.');
    }
  }
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
