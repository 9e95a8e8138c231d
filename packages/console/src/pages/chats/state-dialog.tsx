import { type Chat, type ChatState, InvalidRequestError, RunActiveError } from '@runwire/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../app/api.ts';
import { InputError } from '../../app/errors.ts';
import { readObject } from '../../app/read-object.ts';
import { formatJson } from '../../lib/format.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Loading } from '../../ui/feedback.tsx';
import { type Fields, Form, TextAreaField } from '../../ui/form.tsx';
import { notify } from '../../ui/toasts.tsx';
import { toPatch } from './state-patch.ts';

interface StateDialogProps {
  readonly chat: Chat;
  readonly onClose: () => void;
}

const FIELD = { name: 'state', label: 'The state', example: '{"plan": "pro"}' };

/** Edits what tools keep in the chat. */
export function StateDialog({ chat, onClose }: StateDialogProps) {
  const { apiIntegrationId, chatId } = chat;
  const { data: state, error } = useQuery({
    queryKey: ['chats', apiIntegrationId, chatId, 'state to edit'],
    queryFn: ({ signal }) => api().chats.state({ apiIntegrationId, chatId }, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  return (
    <Dialog title="Edit the state of the chat" isWide onClose={onClose}>
      {state !== undefined && <StateForm chat={chat} state={state} onClose={onClose} />}
      {state === undefined && (error === null ? <Loading what="the state" /> : <ErrorNotice error={error} />)}
    </Dialog>
  );
}

interface StateFormProps extends StateDialogProps {
  readonly state: ChatState;
}

function StateForm({ chat: { apiIntegrationId, chatId }, state, onClose }: StateFormProps) {
  const client = useQueryClient();
  // What the person began with, also if the state is read again.
  const [before] = useState(state);
  const save = async (fields: Fields) => {
    const patch = toPatch(before, readObject(fields.text('state') || '{}', FIELD), FIELD.name);
    try {
      await api().chats.patchState({ apiIntegrationId, chatId, patch });
    } catch (failure) {
      throw toFieldError(failure);
    }
    await client.invalidateQueries({ queryKey: ['chats', apiIntegrationId, chatId, 'state'] });
    notify('The state is saved.');
    onClose();
  };
  return (
    <Form submitLabel="Save state" pendingLabel="Saving…" onCancel={onClose} onSubmit={save}>
      <TextAreaField
        label="State"
        name={FIELD.name}
        rows={16}
        isCode
        hint="A JSON object, at most 64 KiB. Only what you change is sent, so other changes since then are kept."
        defaultValue={formatJson(before)}
      />
    </Form>
  );
}

/** The form has one field, so every refusal of what it contains is about that field. */
function toFieldError(failure: unknown): unknown {
  if (failure instanceof RunActiveError) {
    const sentence =
      'A run of this chat is active, and its calls may change the state. Your draft is kept: save again when the run has ended.';
    return new InputError(sentence, FIELD.name);
  }
  return failure instanceof InvalidRequestError ? new InputError(failure.message, FIELD.name) : failure;
}
