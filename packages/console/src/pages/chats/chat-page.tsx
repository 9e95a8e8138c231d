import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { formatCount } from '../../lib/format.ts';
import { shorten } from '../../lib/shorten.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Loading } from '../../ui/feedback.tsx';
import { MemberName } from '../../ui/member-name.tsx';
import { Page } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { AllowedTools } from './allowed-tools.tsx';
import { ChatActions } from './chat-actions.tsx';
import { chatName } from './chat-name.ts';
import { chatQuery, chatStateQuery } from './chat-queries.ts';
import { ChatStatus } from './chat-status.tsx';
import { ChatTurns } from './chat-turns.tsx';
import { StoredState } from './stored-state.tsx';
import './chats.css';

export function ChatPage() {
  const { integration, chat: chatId } = useParams({ from: '/signed-in/integrations/$integration/chats/$chat' });
  const { data: chat, error, refetch } = useQuery(chatQuery(integration, chatId));
  const { data: state, error: stateError } = useQuery(chatStateQuery(integration, chatId, chat));
  // The state is above the messages, which must not move when it arrives.
  if (chat === undefined || (state === undefined && stateError === null)) {
    return (
      <Page title="Chat">
        {error === null ? <Loading what="the chat" /> : <ErrorNotice error={error} onRetry={() => void refetch()} />}
      </Page>
    );
  }
  return (
    <Page
      title={shorten(chatName(chat))}
      lead={
        <span className="row">
          <ChatStatus {...chat} />
          <span>
            {chat.consumerId === null ? (
              'No member'
            ) : (
              <Link to="/integrations/$integration/members/$member" params={{ integration, member: chat.consumerId }}>
                <MemberName integration={integration} consumerId={chat.consumerId} />
              </Link>
            )}
            , {formatCount(chat.numMessages, 'message')}, updated <Time time={chat.updatedAt} age />
          </span>
          <Link to="/integrations/$integration/runs" params={{ integration }} search={{ chat: chatId }}>
            Runs of this chat
          </Link>
        </span>
      }
      actions={<ChatActions chat={chat} />}
    >
      {error !== null && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      <div className="stack chat-cards">
        <AllowedTools chat={chat} />
        {state !== undefined && <StoredState chat={chat} state={state} />}
        {state === undefined && stateError !== null && <ErrorNotice error={stateError} />}
      </div>
      <ChatTurns key={chatId} chat={chat} />
    </Page>
  );
}
