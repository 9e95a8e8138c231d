import type { Chat } from '@runwire/client';
import { Link } from '@tanstack/react-router';
import { api } from '../../app/api.ts';
import { formatNumber } from '../../lib/format.ts';
import { shorten } from '../../lib/shorten.ts';
import type { Column } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/feedback.tsx';
import { May } from '../../ui/may.tsx';
import { MemberName } from '../../ui/member-name.tsx';
import { RowTitle } from '../../ui/row-title.tsx';
import { Time } from '../../ui/time.tsx';
import type { ListKind, ListSearch } from '../lists/list-kind.ts';
import { ChatPeek } from './chat-peek.tsx';
import { ChatStatus } from './chat-status.tsx';

const ACTIVE_REFETCH_MS = 3000;
const IDLE_REFETCH_MS = 15_000;

const columns = (integration: string): readonly Column<Chat>[] => [
  {
    title: 'Chat',
    share: 3.2,
    cell: (chat) => (
      <RowTitle
        detail={
          <>
            <span className="only-narrow">
              <MemberName integration={integration} consumerId={chat.consumerId} /> ·{' '}
            </span>
            <span>{shorten(chat.aliasChatId ?? chat.chatId)}</span>
          </>
        }
      >
        <Link to="/integrations/$integration/chats/$chat" params={{ integration, chat: chat.chatId }}>
          <bdi>{chat.titlePreview?.trim() || 'Chat without text'}</bdi>
        </Link>
      </RowTitle>
    ),
  },
  {
    title: 'Status',
    share: 1.4,
    cell: (chat) => (
      <span className="row-state">
        <ChatStatus {...chat} />
        <span className="only-narrow small muted">
          <Time time={chat.updatedAt} age />
        </span>
      </span>
    ),
  },
  {
    title: 'Member',
    share: 1.4,
    isMinor: true,
    cell: ({ consumerId }) => <MemberName integration={integration} consumerId={consumerId} />,
  },
  { title: 'Messages', isNumber: true, isMinor: true, cell: ({ numMessages }) => formatNumber(numMessages) },
  { title: 'Updated', share: 1.4, isMinor: true, cell: ({ updatedAt }) => <Time time={updatedAt} age /> },
];

/** The filters as the API takes them. A chat that waits is idle for the API. */
const getFilters = ({ member, status, q, from, sort = 'updated' }: ListSearch) => ({
  sort: sort as 'created' | 'updated',
  ...(member !== undefined && { consumerId: member }),
  ...(status === 'waiting' && { waiting: true }),
  ...(status !== undefined && status !== 'waiting' && { status: status as Chat['status'] }),
  ...(q !== undefined && { q }),
  ...(from !== undefined && { updatedAfter: from }),
});

export const chatList: ListKind<Chat> = {
  what: 'chats',
  read: (apiIntegrationId, search, signal) =>
    api().chats.list({ apiIntegrationId, limit: 100, ...getFilters(search) }, { signal }),
  refetchMs: (chats) => (chats.some(({ status }) => status === 'running') ? ACTIVE_REFETCH_MS : IDLE_REFETCH_MS),
  columns,
  rowKey: ({ chatId }) => chatId,
  Peek: ChatPeek,
  none: (integration) => (
    <EmptyState title="No chats yet">
      <p>Send a message in the playground, or from your backend. Each conversation becomes a chat.</p>
      <May call="getCompletionV2">
        <Link className="button" to="/integrations/$integration/playground" params={{ integration }}>
          Open the playground
        </Link>
      </May>
    </EmptyState>
  ),
};
