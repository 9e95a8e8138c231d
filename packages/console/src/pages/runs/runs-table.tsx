import type { RunListItem } from '@runwire/client';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { api } from '../../app/api.ts';
import { usePagedList } from '../../app/paged-list.ts';
import { formatDuration, formatNumber } from '../../lib/format.ts';
import { shorten } from '../../lib/shorten.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { Status } from '../../ui/feedback.tsx';
import { Nothing } from '../../ui/nothing.tsx';
import { RowTitle } from '../../ui/row-title.tsx';
import { Time } from '../../ui/time.tsx';
import type { RunSearch } from './run-filters.tsx';
import { getDuration, isActive, toStatus } from './run-state.ts';
import { useTick } from './use-tick.ts';
import './runs.css';

/** While a run is active its row changes; otherwise new runs appear from time to time. */
const ACTIVE_REFETCH_MS = 2000;
const IDLE_REFETCH_MS = 15_000;

const refetchMs = (runs: readonly RunListItem[]) => (runs.some(isActive) ? ACTIVE_REFETCH_MS : IDLE_REFETCH_MS);

/** What the run answers, for people. */
function getText({ messagePreview, chatDeleted }: RunListItem): string {
  if (chatDeleted) return 'Deleted chat';
  return messagePreview || 'Message without text';
}

const listColumns = (integration: string): readonly Column<RunListItem>[] => [
  {
    title: 'Message',
    share: 2.5,
    cell: (run) => (
      <RowTitle detail={run.error?.message ?? null} isError>
        <Link to="/integrations/$integration/runs/$run" params={{ integration, run: run.runId }}>
          <bdi>{getText(run)}</bdi>
          <span className="visually-hidden">, {run.runId}</span>
        </Link>
      </RowTitle>
    ),
  },
  { title: 'Status', share: 2, cell: (run) => <Status status={toStatus(run)} /> },
  {
    title: 'Agent',
    isMinor: true,
    cell: ({ agent }) => <bdi>{shorten(agent)}</bdi>,
  },
  {
    title: 'Member',
    isMinor: true,
    cell: ({ consumerId }) => (consumerId === null ? <Nothing /> : <bdi>{shorten(consumerId)}</bdi>),
  },
  { title: 'Started', share: 1.75, cell: (run) => <Time time={run.startedAt ?? run.createdAt} age /> },
  { title: 'Duration', share: 1.05, isNumber: true, isMinor: true, cell: (run) => formatDuration(getDuration(run)) },
  {
    title: 'Tokens',
    share: 0.9,
    isNumber: true,
    isMinor: true,
    cell: ({ usage }) => (usage === null ? <Nothing /> : formatNumber(usage.total_tokens)),
  },
];

/** The filters as the API takes them. */
const getFilters = ({ status, agent, member, chat, from, to }: RunSearch) => ({
  ...(status !== undefined && { status: status as RunListItem['status'] }),
  ...(agent !== undefined && { agent }),
  ...(member !== undefined && { consumerId: member }),
  ...(chat !== undefined && { chatId: chat }),
  ...(from !== undefined && { from }),
  ...(to !== undefined && { to }),
});

interface RunsTableProps {
  readonly integration: string;
  readonly search: RunSearch;
  /** Shown if there are no runs. */
  readonly empty: ReactNode;
  /** False on the page of a member. */
  readonly hasMember?: boolean;
}

/** Runs, newest first. */
export function RunsTable({ integration, search, empty, hasMember = true }: RunsTableProps) {
  const list = usePagedList(
    ['runs', integration, 'list', search],
    (signal) =>
      api().runs.list({ apiIntegrationId: integration, texts: false, limit: 100, ...getFilters(search) }, { signal }),
    { refetchMs },
  );
  useTick(!list.isLong && list.rows.some(isActive));
  const columns = listColumns(integration).filter(({ title }) => hasMember || title !== 'Member');
  return <DataTable what="runs" list={list} columns={columns} rowKey={({ runId }) => runId} empty={empty} />;
}
