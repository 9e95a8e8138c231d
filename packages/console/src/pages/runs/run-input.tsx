import type { RunRecord } from '@runwire/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { LongText } from '../../ui/long-text.tsx';
import { MessageFiles } from '../chats/message-files.tsx';
import { inputQuery } from './run-queries.ts';

/** The message that started the run. */
export function RunInput({ run }: { readonly run: RunRecord }) {
  const { data: message, isPending, error } = useQuery(inputQuery(run));
  const { apiIntegrationId: integration, chatId: chat } = run;
  if (isPending) return <p className="muted">Loading the message…</p>;
  if (error !== null || message === null) {
    return (
      <p className="muted">
        The message is further back in{' '}
        <Link to="/integrations/$integration/chats/$chat" params={{ integration, chat }}>
          the chat
        </Link>
        .
      </p>
    );
  }
  return (
    <div className="stack-tight">
      {message.content === '' ? (
        <p className="muted">Answers to questions, without text.</p>
      ) : (
        <LongText text={message.content} />
      )}
      <MessageFiles integration={integration} message={message} />
    </div>
  );
}
