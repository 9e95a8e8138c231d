import type { Chat } from '@runwire/client';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../app/api.ts';
import { shorten } from '../../lib/shorten.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { May } from '../../ui/may.tsx';
import { notify } from '../../ui/toasts.tsx';
import { chatName } from './chat-name.ts';
import { PlaygroundLink } from './playground-link.tsx';
import { RenameDialog } from './rename-dialog.tsx';
import { StateDialog } from './state-dialog.tsx';

export function ChatActions({ chat }: { readonly chat: Chat }) {
  const { apiIntegrationId, chatId } = chat;
  const client = useQueryClient();
  const navigate = useNavigate();
  const [open, setOpen] = useState<'rename' | 'state' | 'delete' | null>(null);
  const close = () => setOpen(null);
  const remove = async () => {
    await api().chats.delete({ apiIntegrationId, chatId });
    client.removeQueries({ queryKey: ['chats', apiIntegrationId, chatId] });
    notify('The chat is deleted.');
    await navigate({ to: '/integrations/$integration/chats', params: { integration: apiIntegrationId } });
  };
  return (
    <>
      <PlaygroundLink chat={chat} isMain />
      <May call="updateChat">
        <button type="button" className="button" onClick={() => setOpen('rename')}>
          Rename
        </button>
      </May>
      <May call="updateChatState">
        <button type="button" className="button" onClick={() => setOpen('state')}>
          Edit state
        </button>
      </May>
      <May call="deleteChat">
        <button type="button" className="button button-danger" onClick={() => setOpen('delete')}>
          Delete
        </button>
      </May>
      {open === 'rename' && <RenameDialog chat={chat} onClose={close} />}
      {open === 'state' && <StateDialog chat={chat} onClose={close} />}
      {open === 'delete' && (
        <ConfirmDialog
          title={`Delete ${shorten(chatName(chat), 60)}?`}
          action="Delete chat"
          pendingLabel="Deleting…"
          onClose={close}
          onConfirm={remove}
        >
          <p>
            The messages are deleted, and the steps and events of its runs. The runs and their usage are kept. This
            cannot be undone.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}
