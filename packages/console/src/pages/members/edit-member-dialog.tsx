import type { Member } from '@runwire/client';
import { api } from '../../app/api.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form.tsx';
import { MemberFields } from './member-fields.tsx';
import { readMemberFields } from './member-input.ts';

interface EditMemberDialogProps {
  readonly integration: string;
  readonly member: Member;
  readonly onClose: () => void;
  readonly onChanged: (member: Member) => void;
}

export function EditMemberDialog({ integration, member, onClose, onChanged }: EditMemberDialogProps) {
  const { consumerId } = member;
  return (
    <Dialog title="Change the member" onClose={onClose}>
      <Form
        submitLabel="Save"
        pendingLabel="Saving…"
        onCancel={onClose}
        onSubmit={async (fields) => {
          const input = { apiIntegrationId: integration, consumerId, ...readMemberFields(fields) };
          onChanged(await api().members.put(input));
        }}
      >
        <MemberFields integration={integration} member={member} />
      </Form>
    </Dialog>
  );
}
