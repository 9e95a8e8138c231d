import type { Message } from '@runwire/client';
import type { ReactNode } from 'react';
import { formatCount, formatJson } from '../../lib/format.ts';
import { shorten } from '../../lib/shorten.ts';
import { LongText } from '../../ui/long-text.tsx';
import { Time } from '../../ui/time.tsx';
import { MessageFiles } from './message-files.tsx';
import { LongCode } from './parts.tsx';
import { EMPTY_MESSAGE, type SentMessage } from './turn.ts';

interface SentViewProps {
  readonly integration: string;
  readonly message: SentMessage;
  /** What the person can do with the message. */
  readonly actions?: ReactNode;
}

/** A user's message as it was typed, with its files and decisions. */
export function SentView({ integration, message, actions }: SentViewProps) {
  if (message === EMPTY_MESSAGE) return null;
  const { text, images, decisions, sentAt } = message;
  return (
    <article className="sent" aria-label="User message">
      <h2 className="visually-hidden">User</h2>
      {text !== '' && <LongText text={text}>{(shown) => <p className="plain-text">{shown}</p>}</LongText>}
      <Decisions decisions={decisions} />
      <MessageFiles integration={integration} message={message} />
      {images.length > 0 && <p className="small muted">The model gets {formatCount(images.length, 'attachment')}.</p>}
      <footer className="row small muted">
        {sentAt !== null && <Time time={sentAt} />}
        {actions}
      </footer>
    </article>
  );
}

const WORDS = { approved: 'Approved', declined: 'Declined', output: 'Output for' } as const;

/** Who answered which call, when and why. */
function Decisions({ decisions }: { readonly decisions: Message['answers'] }) {
  if (decisions.length === 0) return null;
  return (
    <ul className="plain-list" aria-label="Answers">
      {decisions.map(({ questionId, tool, decision, reason, changedArguments, remember, by, at }) => (
        <li key={questionId}>
          {WORDS[decision]}{' '}
          <code>
            <bdi>{shorten(tool ?? 'a call')}</bdi>
          </code>{' '}
          by <bdi>{shorten(by.name ?? by.id ?? by.kind)}</bdi>, <Time time={at} />
          {remember !== null && ', allowed in this chat'}
          {reason !== null && (
            <>
              : <bdi>{shorten(reason, 2000)}</bdi>
            </>
          )}
          {changedArguments !== null && (
            <LongCode
              code={formatJson(changedArguments)}
              label={`corrected arguments of ${shorten(tool ?? 'a call')}`}
            />
          )}
        </li>
      ))}
    </ul>
  );
}
