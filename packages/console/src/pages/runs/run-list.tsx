import type { RunListItem } from '@runwire/client';
import { Link } from '@tanstack/react-router';
import type { ComponentType, ReactNode } from 'react';
import { api } from '../../app/api.ts';
import { formatCost, formatDuration, formatNumber } from '../../lib/format.ts';
import { shorten } from '../../lib/shorten.ts';
import type { Column } from '../../ui/data-table.tsx';
import { EmptyState, Status } from '../../ui/feedback.tsx';
import { May } from '../../ui/may.tsx';
import { MemberName } from '../../ui/member-name.tsx';
import { Nothing } from '../../ui/nothing.tsx';
import { RowTitle } from '../../ui/row-title.tsx';
import { Time } from '../../ui/time.tsx';
import type { ListKind, ListSearch } from '../lists/list-kind.ts';
import { RunPeek } from './run-peek.tsx';
import { getDuration, isActive, toStatus } from './run-state.ts';
import { useTick } from './use-tick.ts';

/** While a run is active its row changes; otherwise new runs appear from time to time. */
const ACTIVE_REFETCH_MS = 2000;
const IDLE_REFETCH_MS = 15_000;

/** What the run answers, for people. */
function getText({ messagePreview, chatDeleted }: RunListItem): string {
  if (chatDeleted) return 'Deleted chat';
  return messagePreview || 'Message without text';
}

const getResult = ({ error, answerPreview }: RunListItem): string => error?.message ?? answerPreview ?? '';

/** The agents that spoke, in their order; at first the agent that the run was started at. */
const getAgents = ({ agent, agents }: RunListItem): string =>
  shorten(agents === null || agents.length === 0 ? agent : agents.join(', '));

/** `provider/model` without the provider. */
const getModels = ({ models }: RunListItem): string =>
  shorten((models ?? []).map((model) => model.slice(model.indexOf('/') + 1)).join(', '));

function Duration({ run }: { readonly run: RunListItem }) {
  useTick(isActive(run));
  return formatDuration(getDuration(run));
}

function Used({ usage, cost }: RunListItem) {
  if (usage === null) return <Nothing />;
  const tokens = formatNumber(usage.total_tokens);
  return cost === null ? tokens : <span title={`${tokens} tokens`}>{formatCost(cost)}</span>;
}

interface RunLinkProps {
  readonly integration: string;
  readonly run: RunListItem;
  readonly children: ReactNode;
}

const RunLink = ({ integration, run: { runId }, children }: RunLinkProps) => (
  <Link to="/integrations/$integration/runs/$run" params={{ integration, run: runId }}>
    {children}
  </Link>
);

const makeColumns = (integration: string, RowLink: ComponentType<RunLinkProps>): readonly Column<RunListItem>[] => [
  {
    title: 'Message',
    share: 4,
    cell: (run) => (
      <RowTitle
        detail={
          <>
            <span className="only-narrow">
              {getAgents(run)} · <MemberName integration={integration} consumerId={run.consumerId} />
              {getResult(run) !== '' && ' · '}
            </span>
            {run.rerunOf !== null && 'Rerun · '}
            <span title={run.error?.message}>{getResult(run)}</span>
          </>
        }
        isError={run.error !== null}
      >
        <RowLink integration={integration} run={run}>
          <bdi>{getText(run)}</bdi>
          <span className="visually-hidden">, {run.runId}</span>
        </RowLink>
      </RowTitle>
    ),
  },
  {
    title: 'Status',
    share: 1.9,
    cell: (run) => (
      <span className="row-state">
        <Status status={toStatus(run)} />
        <span className="only-narrow small muted">
          <Time time={run.createdAt} age />
        </span>
      </span>
    ),
  },
  {
    title: 'Agent',
    share: 1.5,
    isMinor: true,
    cell: (run) => (
      <RowTitle detail={getModels(run)}>
        <bdi>{getAgents(run)}</bdi>
      </RowTitle>
    ),
  },
  {
    title: 'Member',
    share: 1.4,
    isMinor: true,
    cell: ({ consumerId }) => <MemberName integration={integration} consumerId={consumerId} />,
  },
  { title: 'Started', share: 1.5, isMinor: true, cell: (run) => <Time time={run.startedAt ?? run.createdAt} age /> },
  { title: 'Duration', isNumber: true, isMinor: true, cell: (run) => <Duration run={run} /> },
  { title: 'Used', isNumber: true, isMinor: true, cell: Used },
];

/** The filters as the API takes them. */
const getFilters = ({ status, agent, member, chat, original, q, from, to }: ListSearch) => ({
  ...(status !== undefined && { status: status as RunListItem['status'] }),
  ...(agent !== undefined && { agent }),
  ...(member !== undefined && { consumerId: member }),
  ...(chat !== undefined && { chatId: chat }),
  ...(original !== undefined && { rerunOf: original }),
  ...(q !== undefined && { q }),
  ...(from !== undefined && { from }),
  ...(to !== undefined && { to }),
});

/** Runs, newest first. */
export const runList: ListKind<RunListItem> = {
  what: 'runs',
  read: (apiIntegrationId, search, signal) =>
    api().runs.list({ apiIntegrationId, texts: false, limit: 100, ...getFilters(search) }, { signal }),
  refetchMs: (runs) => (runs.some(isActive) ? ACTIVE_REFETCH_MS : IDLE_REFETCH_MS),
  columns: (integration) => makeColumns(integration, RunLink),
  rowKey: ({ runId }) => runId,
  Peek: RunPeek,
  none: (integration) => (
    <EmptyState title="No runs yet">
      <p>Send a message in the playground, or from your backend.</p>
      <May call="getCompletionV2">
        <Link className="button" to="/integrations/$integration/playground" params={{ integration }}>
          Open the playground
        </Link>
      </May>
    </EmptyState>
  ),
};

/** The search that begins the choice of two runs. The id of the first run follows. */
export const CHOOSE_FIRST = 'first';

/** The same list, in which a click on two rows compares them. */
export const comparedRunList = (chosen: string): ListKind<RunListItem> => ({
  ...runList,
  columns: (integration) =>
    makeColumns(integration, ({ run: { runId }, children }) =>
      chosen === CHOOSE_FIRST || chosen === runId ? (
        <Link
          to="/integrations/$integration/runs"
          params={{ integration }}
          search={(search: ListSearch) => ({ ...search, compare: chosen === runId ? CHOOSE_FIRST : runId })}
        >
          {chosen === runId && 'First run: '}
          {children}
        </Link>
      ) : (
        <Link
          to="/integrations/$integration/runs/$run/compare"
          params={{ integration, run: chosen }}
          search={{ with: runId }}
        >
          {children}
        </Link>
      ),
    ),
});
