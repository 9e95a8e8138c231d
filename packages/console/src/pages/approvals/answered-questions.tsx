import type { AskedQuestion } from '@runwire/client';
import { Link } from '@tanstack/react-router';
import { api } from '../../app/api.ts';
import { QUESTIONS_KEY } from '../../app/open-questions.ts';
import { usePagedList } from '../../app/paged-list.ts';
import { shorten } from '../../lib/shorten.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { EmptyState, Status } from '../../ui/feedback.tsx';
import { Nothing } from '../../ui/nothing.tsx';
import { RowTitle } from '../../ui/row-title.tsx';
import { Time } from '../../ui/time.tsx';

const PAGE_ROWS = 100;
const REFETCH_MS = 15_000;

const COLUMNS: readonly Column<AskedQuestion>[] = [
  {
    title: 'Call',
    share: 2,
    cell: ({ apiIntegrationId: integration, runId, tool, ...answer }) => (
      <RowTitle detail={toDetail(answer)}>
        <Link to="/integrations/$integration/runs/$run" params={{ integration, run: runId }}>
          <code>
            <bdi>{shorten(tool)}</bdi>
          </code>
        </Link>
      </RowTitle>
    ),
  },
  { title: 'Decision', share: 1.2, cell: ({ decision }) => <Status status={decision ?? ''} /> },
  { title: 'By', share: 1.6, cell: By },
  {
    title: 'When',
    share: 1.4,
    cell: ({ answeredBy }) => (answeredBy === null ? <Nothing /> : <Time time={answeredBy.at} age />),
  },
  {
    title: 'Chat',
    share: 1.6,
    isMinor: true,
    cell: ({ apiIntegrationId: integration, chatId }) => (
      <Link to="/integrations/$integration/chats/$chat" params={{ integration, chat: chatId }}>
        <bdi>{shorten(chatId)}</bdi>
      </Link>
    ),
  },
];

type Details = Pick<AskedQuestion, 'reason' | 'changedArguments' | 'remember'>;

/** The reason, and what the approval did besides. */
function toDetail({ reason, changedArguments: changed, remember }: Details): string | null {
  const corrected = changed === null ? null : `Corrected to ${shorten(JSON.stringify(changed), 500)}`;
  const allowed = remember === null ? null : 'Allowed in the chat';
  const parts = [corrected, allowed, reason].filter((part) => part !== null);
  return parts.length === 0 ? null : parts.join('. ');
}

function By({ answeredBy }: AskedQuestion) {
  if (answeredBy === null) return <Nothing />;
  const { kind, id, name } = answeredBy;
  const words = { person: '', key: 'key ', client_token: 'member ' };
  return (
    <>
      {words[kind]}
      <bdi>{shorten(name ?? id ?? 'RUNWIRE_API_KEY')}</bdi>
    </>
  );
}

/** What was decided, by whom and when. The list begins with the newest question. */
export function AnsweredQuestions() {
  const list = usePagedList(
    [...QUESTIONS_KEY, 'answered'],
    (signal) => api().questions.list({ state: 'answered', limit: PAGE_ROWS }, { signal }),
    { refetchMs: REFETCH_MS },
  );
  return (
    <DataTable
      what="answered questions"
      list={list}
      columns={COLUMNS}
      rowKey={({ questionId }) => questionId}
      empty={
        <EmptyState title="No question was answered yet">
          <p>Each answer is listed here with its decision, until the chat is deleted.</p>
        </EmptyState>
      }
    />
  );
}
