import type { Chat } from '@runwire/client';
import { useQueryClient } from '@tanstack/react-query';
import { api } from '../../app/api.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Form, TextField } from '../../ui/form.tsx';
import { notify } from '../../ui/toasts.tsx';

interface RenameDialogProps {
  readonly chat: Chat;
  readonly onClose: () => void;
}

export function RenameDialog({ chat: { apiIntegrationId, chatId, title }, onClose }: RenameDialogProps) {
  const client = useQueryClient();
  return (
    <Dialog title="Rename the chat" onClose={onClose}>
      <Form
        submitLabel="Save title"
        pendingLabel="Saving…"
        onCancel={onClose}
        onSubmit={async (fields) => {
          await api().chats.update({ apiIntegrationId, chatId, title: fields.optional('title') ?? null });
          await client.invalidateQueries({ queryKey: ['chats', apiIntegrationId] });
          notify('The title is saved.');
          onClose();
        }}
      >
        <TextField
          label="Title"
          name="title"
          defaultValue={title ?? ''}
          maxLength={200}
          hint="At most 200 characters. An empty title shows the id of the chat."
        />
      </Form>
    </Dialog>
  );
}
