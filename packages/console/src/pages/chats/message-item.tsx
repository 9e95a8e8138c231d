import type { Message } from '@runwire/client';
import { Link } from '@tanstack/react-router';
import { memo } from 'react';
import { shorten } from '../../lib/shorten.ts';
import { Status } from '../../ui/feedback.tsx';
import { LongText } from '../../ui/long-text.tsx';
import { Markdown } from '../../ui/markdown.tsx';
import { RunError } from '../../ui/run-error.tsx';
import { Time } from '../../ui/time.tsx';
import { MessageAnswers, MessageCalls } from './message-calls.tsx';
import { MessageFiles } from './message-files.tsx';

interface MessageItemProps {
  readonly integration: string;
  readonly message: Message;
  /** True if its run ended with a question. */
  readonly asks: boolean;
}

/** One message of a transcript. */
export const MessageItem = memo(function MessageItem({ integration, message, asks }: MessageItemProps) {
  const { role, status, agent, content, error, createdAt, runId } = message;
  return (
    <article className={`message message-${role}`}>
      <header className="row small muted">
        <strong>{role === 'user' ? 'User' : <bdi>{shorten(agent ?? 'Assistant')}</bdi>}</strong>
        <Time time={createdAt} />
        {status !== 'completed' && <Status status={status} />}
        {role === 'assistant' && runId !== null && (
          <Link to="/integrations/$integration/runs/$run" params={{ integration, run: runId }}>
            Run
          </Link>
        )}
      </header>
      {content === '' && <p className="muted">{noText(message, asks)}</p>}
      {content !== '' && (
        <LongText text={content}>{role === 'user' ? undefined : (shown) => <Markdown text={shown} />}</LongText>
      )}
      <MessageCalls integration={integration} message={message} />
      <MessageAnswers message={message} />
      <MessageFiles integration={integration} message={message} />
      {error !== null && <RunError error={error} />}
    </article>
  );
});

function noText({ role, status }: Message, asks: boolean): string {
  if (role === 'user') return 'Answers to questions, without text.';
  if (status === 'completed') return asks ? 'The run ended with a question.' : 'The run ended without text.';
  return `The run ${status === 'failed' ? 'failed' : 'was cancelled'} before any text.`;
}
