import type { Chat } from '@runwire/client';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { api } from '../../app/api.ts';
import { usePagedList } from '../../app/paged-list.ts';
import { changedSearch } from '../../app/search.ts';
import { formatNumber } from '../../lib/format.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { Badge, EmptyState, Status } from '../../ui/feedback.tsx';
import { FilterField } from '../../ui/filter-field.tsx';
import { shorten } from '../../ui/long-text.tsx';
import { Page } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { chatName } from './chat-name.ts';

const ACTIVE_REFETCH_MS = 3000;
const IDLE_REFETCH_MS = 15_000;

const refetchMs = (chats: readonly Chat[]) =>
  chats.some(({ status }) => status === 'running') ? ACTIVE_REFETCH_MS : IDLE_REFETCH_MS;

function ChatState({ status, pending }: Chat) {
  if (pending.length > 0) return <Badge tone="warn">waits for an answer</Badge>;
  return <Status status={status} />;
}

const columnsOf = (integration: string): readonly Column<Chat>[] => [
  {
    title: 'Chat',
    share: 2.4,
    cell: (chat) => (
      <Link to="/integrations/$integration/chats/$chat" params={{ integration, chat: chat.chatId }}>
        <bdi>{shorten(chatName(chat))}</bdi>
      </Link>
    ),
  },
  {
    title: 'Member',
    share: 1.4,
    isMinor: true,
    cell: ({ consumerId }) =>
      consumerId === null ? <span className="muted">none</span> : <bdi>{shorten(consumerId)}</bdi>,
  },
  { title: 'Status', share: 1.5, isMinor: true, cell: ChatState },
  { title: 'Messages', isNumber: true, isMinor: true, cell: ({ numMessages }) => formatNumber(numMessages) },
  { title: 'Updated', share: 1.4, cell: ({ updatedAt }) => <Time time={updatedAt} age /> },
  {
    title: 'Action',
    share: 1.3,
    isMinor: true,
    cell: (chat) => (
      <Link
        className="button button-small"
        to="/integrations/$integration/playground"
        params={{ integration }}
        search={{ chat: chat.chatId, ...(chat.consumerId !== null && { member: chat.consumerId }) }}
        aria-label={`Open ${shorten(chatName(chat))} in the playground`}
      >
        Playground
      </Link>
    ),
  },
];

export function ChatsPage() {
  const { integration } = useParams({ from: '/signed-in/integrations/$integration/chats' });
  const { member = '' } = useSearch({ from: '/signed-in/integrations/$integration/chats' });
  const navigate = useNavigate({ from: '/integrations/$integration/chats' });
  const list = usePagedList(
    ['chats', integration, 'list', member],
    (signal) =>
      api().chats.list(
        { apiIntegrationId: integration, limit: 100, ...(member !== '' && { consumerId: member }) },
        { signal },
      ),
    { refetchMs },
  );
  return (
    <Page title="Chats" lead="A chat has the messages of one conversation. The newest chat is first.">
      <search className="filters">
        <FilterField
          label="Member id"
          name="member"
          value={member}
          onChange={(value) => void navigate({ search: changedSearch({ member: value }), replace: true })}
        />
      </search>
      <DataTable
        what="chats"
        list={list}
        columns={columnsOf(integration)}
        rowKey={({ chatId }) => chatId}
        empty={
          member === '' ? (
            <EmptyState title="No chats yet">
              <p>Send a message in the playground, or from your backend. Each conversation becomes a chat.</p>
              <Link className="button" to="/integrations/$integration/playground" params={{ integration }}>
                Open the playground
              </Link>
            </EmptyState>
          ) : (
            <EmptyState title="This member has no chats">
              <p>Check the member id, which must be complete, or clear the filter.</p>
            </EmptyState>
          )
        }
      />
    </Page>
  );
}
