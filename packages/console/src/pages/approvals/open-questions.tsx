import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { api } from '../../app/api.ts';
import { QUESTIONS_KEY } from '../../app/open-questions.ts';
import { usePagedList } from '../../app/paged-list.ts';
import { integrationsQuery } from '../../app/queries.ts';
import { formatCount } from '../../lib/format.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { EmptyState, Loading } from '../../ui/feedback.tsx';
import { ApprovalCard, type SentAnswer } from './approval-card.tsx';
import { groupQuestions } from './group-questions.ts';

const REFETCH_MS = 5000;
const PAGE_QUESTIONS = 100;

/** The questions that wait for an answer, as forms. */
export function OpenQuestions() {
  const list = usePagedList(
    [...QUESTIONS_KEY, 'open'],
    (signal) => api().questions.list({ state: 'open', limit: PAGE_QUESTIONS }, { signal }),
    { refetchMs: REFETCH_MS },
  );
  const { data: integrations = [], isPending } = useQuery(integrationsQuery);
  const [sent, setSent] = useState<SentAnswer | null>(null);
  const { rows, isLoading, error, hasMore, isLoadingMore, loadMore, retry } = list;
  // A name that arrives later would move the page.
  if (isLoading || isPending) return <Loading what="questions" />;
  const names = new Map(integrations.map(({ apiIntegrationId, name }) => [apiIntegrationId, name ?? apiIntegrationId]));
  return (
    <div className="stack">
      {sent !== null && <SentNotice key={sent.runId} sent={sent} />}
      {error !== null && <ErrorNotice error={error} onRetry={retry} />}
      {rows.length === 0 && error === null && (
        <EmptyState title="No call waits for an answer">
          <p>If an agent wants to make a call that needs an approval, it is listed here.</p>
        </EmptyState>
      )}
      {groupQuestions(rows, hasMore).map((group) => (
        <ApprovalCard
          key={group.key}
          group={group}
          integrationName={names.get(group.questions[0].apiIntegrationId) ?? group.questions[0].apiIntegrationId}
          onAnswered={setSent}
        />
      ))}
      {rows.length > 0 && (
        <p className="row small muted">
          <span role="status">
            {formatCount(rows.length, 'open question')}
            {hasMore && ' so far'}
          </span>
          {hasMore && (
            <button type="button" className="button button-small" aria-disabled={isLoadingMore} onClick={loadMore}>
              Show more
            </button>
          )}
        </p>
      )}
    </div>
  );
}

/** Replaces the form that was sent, so it takes the focus. */
function SentNotice({ sent: { integration, runId } }: { readonly sent: SentAnswer }) {
  const notice = useRef<HTMLParagraphElement>(null);
  useEffect(() => notice.current?.focus(), []);
  return (
    <p ref={notice} className="notice notice-good" role="status" tabIndex={-1}>
      <span>
        The answer was sent, and the run continues.{' '}
        <Link to="/integrations/$integration/runs/$run" params={{ integration, run: runId }}>
          Open the run
        </Link>
      </span>
    </p>
  );
}
