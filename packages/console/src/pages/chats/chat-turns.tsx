import type { Chat } from '@runwire/client';
import { useEffect, useState } from 'react';
import { useIsConnectionLost } from '../../app/connection.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { EmptyState, Loading } from '../../ui/feedback.tsx';
import { PendingQuestions } from '../../ui/pending-questions.tsx';
import { useChanges } from '../transcript/changes.ts';
import { Conversation } from '../transcript/conversation.ts';
import { PlaygroundLink } from './playground-link.tsx';
import { TurnList } from './turn-list.tsx';

/** A chat's turns, to be read. It opens at its end, and older turns are read while scrolling up. */
export function ChatTurns({ chat }: { readonly chat: Chat }) {
  const { apiIntegrationId, chatId, pending } = chat;
  const [conversation] = useState(() => new Conversation(apiIntegrationId, chatId));
  const isLost = useIsConnectionLost();
  useChanges(conversation.changes);
  useEffect(() => {
    conversation.open();
    return () => conversation.close();
  }, [conversation]);
  useEffect(() => {
    void conversation.catchUp(chat);
  }, [conversation, chat]);
  useEffect(() => {
    if (!isLost) conversation.recover();
  }, [isLost, conversation]);
  const { turns, isLoading, error } = conversation;
  const notice = error !== null && <ErrorNotice error={error} onRetry={() => void conversation.load()} />;
  if (turns.length === 0) {
    if (notice) return notice;
    if (isLoading) {
      return (
        <div aria-busy="true">
          <Loading what="messages" />
        </div>
      );
    }
    return (
      <EmptyState title="No messages yet">
        <p>Send the first message in the playground.</p>
        <PlaygroundLink chat={chat} />
      </EmptyState>
    );
  }
  return (
    <div className="stack">
      <TurnList conversation={conversation} />
      {notice}
      {pending.length > 0 && (
        <PendingQuestions
          questions={pending}
          action={<PlaygroundLink chat={chat} label="Answer in the playground" />}
        />
      )}
    </div>
  );
}
