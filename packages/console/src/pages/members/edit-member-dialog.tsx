import type { Member } from '@runwire/client';
import { useState } from 'react';
import { api } from '../../app/api.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form.tsx';
import { MemberFields } from './member-fields.tsx';
import { changedMemberFields } from './member-input.ts';

interface EditMemberDialogProps {
  readonly integration: string;
  readonly member: Member;
  readonly onClose: () => void;
  readonly onChanged: (member: Member) => void;
}

export function EditMemberDialog({ integration, member, onClose, onChanged }: EditMemberDialogProps) {
  const { consumerId } = member;
  // The member may be read again while the dialog is open.
  const [seen] = useState(member);
  return (
    <Dialog title="Change the member" onClose={onClose}>
      <Form
        submitLabel="Save"
        pendingLabel="Saving…"
        onCancel={onClose}
        onSubmit={async (fields) => {
          const input = { apiIntegrationId: integration, consumerId, ...changedMemberFields(seen, fields) };
          onChanged(await api().members.put(input));
        }}
      >
        <MemberFields integration={integration} member={seen} />
      </Form>
    </Dialog>
  );
}
