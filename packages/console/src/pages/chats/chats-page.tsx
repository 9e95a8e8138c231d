import type { Chat } from '@runwire/client';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { api } from '../../app/api.ts';
import { usePagedList } from '../../app/paged-list.ts';
import { changedSearch } from '../../app/search.ts';
import { formatNumber } from '../../lib/format.ts';
import { shorten } from '../../lib/shorten.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/feedback.tsx';
import { Nothing } from '../../ui/nothing.tsx';
import { Page } from '../../ui/page.tsx';
import { RowTitle } from '../../ui/row-title.tsx';
import { Time } from '../../ui/time.tsx';
import { ChatFilters, type ChatSearch } from './chat-filters.tsx';
import { chatName } from './chat-name.ts';
import { ChatState } from './chat-state.tsx';
import { PlaygroundLink } from './playground-link.tsx';

const ACTIVE_REFETCH_MS = 3000;
const IDLE_REFETCH_MS = 15_000;

const refetchMs = (chats: readonly Chat[]) =>
  chats.some(({ status }) => status === 'running') ? ACTIVE_REFETCH_MS : IDLE_REFETCH_MS;

const listColumns = (integration: string): readonly Column<Chat>[] => [
  {
    title: 'Chat',
    share: 2.7,
    cell: (chat) => (
      <RowTitle detail={shorten(chat.aliasChatId ?? chat.chatId)}>
        <Link to="/integrations/$integration/chats/$chat" params={{ integration, chat: chat.chatId }}>
          <bdi>{chat.titlePreview?.trim() || 'Chat without text'}</bdi>
        </Link>
      </RowTitle>
    ),
  },
  {
    title: 'Member',
    share: 1.4,
    isMinor: true,
    cell: ({ consumerId }) => (consumerId === null ? <Nothing /> : <bdi>{shorten(consumerId)}</bdi>),
  },
  { title: 'Status', share: 1.7, cell: ChatState },
  { title: 'Messages', isNumber: true, isMinor: true, cell: ({ numMessages }) => formatNumber(numMessages) },
  { title: 'Updated', share: 1.7, cell: ({ updatedAt }) => <Time time={updatedAt} age /> },
  {
    title: 'Actions',
    share: 1.3,
    isMinor: true,
    cell: (chat) => (
      <PlaygroundLink chat={chat} label="Playground" title={`Open ${shorten(chatName(chat))} in the playground`} />
    ),
  },
];

/** The filters as the API takes them. */
const getFilters = ({ member, status, updatedAfter }: ChatSearch) => ({
  ...(member !== undefined && { consumerId: member }),
  ...(status !== undefined && { status: status as Chat['status'] }),
  ...(updatedAfter !== undefined && { updatedAfter }),
});

export function ChatsPage() {
  const { integration } = useParams({ from: '/signed-in/integrations/$integration/chats' });
  const search = useSearch({ from: '/signed-in/integrations/$integration/chats' });
  const navigate = useNavigate({ from: '/integrations/$integration/chats' });
  const list = usePagedList(
    ['chats', integration, 'list', search],
    (signal) =>
      api().chats.list(
        { apiIntegrationId: integration, sort: 'updated', limit: 100, ...getFilters(search) },
        { signal },
      ),
    { refetchMs },
  );
  return (
    <Page title="Chats" lead="A chat has the messages of one conversation. The chat that changed last is first.">
      <ChatFilters
        search={search}
        onChange={(changed) => void navigate({ search: changedSearch(changed), replace: true, resetScroll: false })}
        onClear={() => void navigate({ search: {}, replace: true })}
      />
      <DataTable
        what="chats"
        list={list}
        columns={listColumns(integration)}
        rowKey={({ chatId }) => chatId}
        empty={
          Object.keys(search).length === 0 ? (
            <EmptyState title="No chats yet">
              <p>Send a message in the playground, or from your backend. Each conversation becomes a chat.</p>
              <Link className="button" to="/integrations/$integration/playground" params={{ integration }}>
                Open the playground
              </Link>
            </EmptyState>
          ) : (
            <EmptyState title="No chat matches the filters">
              <p>Change a filter, or clear all filters. The id of a member must be complete.</p>
            </EmptyState>
          )
        }
      />
    </Page>
  );
}
