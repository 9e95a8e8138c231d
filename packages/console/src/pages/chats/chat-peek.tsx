import type { Chat } from '@runwire/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { formatCount } from '../../lib/format.ts';
import { shorten } from '../../lib/shorten.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Loading } from '../../ui/feedback.tsx';
import { LongText } from '../../ui/long-text.tsx';
import { MemberName } from '../../ui/member-name.tsx';
import { Time } from '../../ui/time.tsx';
import type { PeekProps } from '../lists/list-kind.ts';
import { chatName } from './chat-name.ts';
import { chatQuery, lastMessagesQuery } from './chat-queries.ts';
import { ChatStatus } from './chat-status.tsx';
import { PlaygroundLink } from './playground-link.tsx';

const MAX_TEXT = 600;

/** A chat in short, beside the list. */
export function ChatPeek({ integration, id }: PeekProps) {
  const { data: chat, error, refetch } = useQuery(chatQuery(integration, id));
  if (chat === undefined) {
    return error === null ? <Loading what="the chat" /> : <ErrorNotice error={error} onRetry={() => void refetch()} />;
  }
  return (
    <>
      <div className="spread">
        <h2>{shorten(chatName(chat), 80)}</h2>
        <span className="row">
          <Link
            className="button button-small"
            to="/integrations/$integration/chats/$chat"
            params={{ integration, chat: id }}
          >
            Open the chat
          </Link>
          <PlaygroundLink chat={chat} label="Playground" title="Continue in the playground" />
        </span>
      </div>
      <p className="row small muted">
        <ChatStatus {...chat} /> <Time time={chat.updatedAt} age />
        <span>{formatCount(chat.numMessages, 'message')}</span>
        <MemberName integration={integration} consumerId={chat.consumerId} />
      </p>
      <LastMessages chat={chat} />
    </>
  );
}

function LastMessages({ chat }: { readonly chat: Chat }) {
  const { apiIntegrationId, chatId, updatedAt } = chat;
  const { data, error, refetch } = useQuery(lastMessagesQuery(apiIntegrationId, chatId, updatedAt));
  if (data === undefined) {
    return error === null ? <Loading what="messages" /> : <ErrorNotice error={error} onRetry={() => void refetch()} />;
  }
  return (
    <>
      {data.hasMore && <p className="small muted">The last messages:</p>}
      {data.messages.map(({ messageId, role, agent, content }) => (
        <section key={messageId}>
          <h3>{role === 'user' ? 'User' : shorten(agent ?? 'Agent', 60)}</h3>
          {content === '' ? <p className="muted">No text.</p> : <LongText text={content} maxShown={MAX_TEXT} />}
        </section>
      ))}
    </>
  );
}
