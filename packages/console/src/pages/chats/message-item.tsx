import type { Message } from '@runwire/client';
import { Link } from '@tanstack/react-router';
import { memo } from 'react';
import { Status } from '../../ui/feedback.tsx';
import { LongText, shorten } from '../../ui/long-text.tsx';
import { Markdown } from '../../ui/markdown.tsx';
import { RunError } from '../../ui/run-error.tsx';
import { Time } from '../../ui/time.tsx';
import { MessageFiles } from './message-files.tsx';

interface MessageItemProps {
  readonly integration: string;
  readonly message: Message;
}

/** One message of a transcript. */
export const MessageItem = memo(function MessageItem({ integration, message }: MessageItemProps) {
  const { role, status, agent, content, error, createdAt, runId } = message;
  return (
    <article className={`message message-${role}`}>
      <header className="row small muted">
        <strong>{role === 'user' ? 'User' : <bdi>{shorten(agent ?? 'Assistant')}</bdi>}</strong>
        <Time time={createdAt} />
        {status !== 'completed' && <Status status={status} />}
        {role === 'assistant' && (
          <Link to="/integrations/$integration/runs/$run" params={{ integration, run: runId }}>
            Run
          </Link>
        )}
      </header>
      {content === '' && <p className="muted">{noText(message)}</p>}
      {content !== '' && (
        <LongText text={content}>{role === 'user' ? undefined : (shown) => <Markdown text={shown} />}</LongText>
      )}
      <MessageFiles integration={integration} message={message} />
      {error !== null && <RunError error={error} />}
    </article>
  );
});

function noText({ role, status }: Message): string {
  if (role === 'user') return 'Answers to questions, without text.';
  return status === 'completed'
    ? 'The run ended without text.'
    : `The run ${status === 'failed' ? 'failed' : 'was cancelled'} before any text.`;
}
