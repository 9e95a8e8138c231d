import type { Chat } from '@runwire/client';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { api } from '../../app/api.ts';
import { usePagedList } from '../../app/paged-list.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { EmptyState, Loading } from '../../ui/feedback.tsx';
import { PendingQuestions } from '../../ui/pending-questions.tsx';
import { MessageList } from './message-list.tsx';
import { PlaygroundLink } from './playground-link.tsx';

/** A chat's messages, oldest first. It opens at its end, and older messages are read while scrolling up. */
export function Transcript({ chat }: { readonly chat: Chat }) {
  const { apiIntegrationId, chatId, numMessages, updatedAt, pending, activeRunId } = chat;
  const queryKey = ['chats', apiIntegrationId, chatId, 'messages'];
  const list = usePagedList(queryKey, (signal) =>
    api().chats.messages({ apiIntegrationId, chatId, limit: 100 }, { signal }),
  );
  useRefresh(queryKey, `${numMessages} ${updatedAt}`);
  if (list.isLoading) return <Loading what="messages" />;
  if (list.rows.length === 0) {
    if (list.error !== null) return <ErrorNotice error={list.error} onRetry={list.retry} />;
    return (
      <EmptyState title="No messages yet">
        <p>Send the first message in the playground.</p>
        <PlaygroundLink chat={chat} />
      </EmptyState>
    );
  }
  return (
    <div className="stack">
      <MessageList integration={apiIntegrationId} list={list} isAsking={pending.length > 0} />
      {pending.length > 0 && (
        <PendingQuestions
          questions={pending}
          action={<PlaygroundLink chat={chat} label="Answer in the playground" />}
        />
      )}
      {activeRunId !== null && (
        <p className="notice" role="status">
          <span>
            A run is active. Its answer appears here when it ends.{' '}
            <Link
              to="/integrations/$integration/runs/$run"
              params={{ integration: apiIntegrationId, run: activeRunId }}
            >
              Show the run
            </Link>
          </span>
        </p>
      )}
    </div>
  );
}

/** Reads the messages again after the chat has changed. */
function useRefresh(queryKey: readonly string[], version: string): void {
  const client = useQueryClient();
  const shown = useRef(version);
  useEffect(() => {
    if (shown.current === version) return;
    shown.current = version;
    void client.invalidateQueries({ queryKey });
  }, [client, queryKey, version]);
}
