import type { Chat } from '@runwire/client';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { api } from '../../app/api.ts';
import { usePagedList } from '../../app/paged-list.ts';
import { formatNumber } from '../../lib/format.ts';
import { shorten } from '../../lib/shorten.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { Nothing } from '../../ui/nothing.tsx';
import { RowTitle } from '../../ui/row-title.tsx';
import { Time } from '../../ui/time.tsx';
import type { ChatSearch } from './chat-filters.tsx';
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

interface ChatsTableProps {
  readonly integration: string;
  readonly search: ChatSearch;
  /** Shown if there are no chats. */
  readonly empty: ReactNode;
  /** False on the page of a member. */
  readonly hasMember?: boolean;
}

/** Chats; the chat that changed last is first. */
export function ChatsTable({ integration, search, empty, hasMember = true }: ChatsTableProps) {
  const list = usePagedList(
    ['chats', integration, 'list', search],
    (signal) =>
      api().chats.list(
        { apiIntegrationId: integration, sort: 'updated', limit: 100, ...getFilters(search) },
        { signal },
      ),
    { refetchMs },
  );
  const columns = listColumns(integration).filter(({ title }) => hasMember || title !== 'Member');
  return <DataTable what="chats" list={list} columns={columns} rowKey={({ chatId }) => chatId} empty={empty} />;
}
