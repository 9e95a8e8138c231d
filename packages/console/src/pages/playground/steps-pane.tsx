import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useSyncExternalStore } from 'react';
import { api } from '../../app/api.ts';
import { measured, pollMs } from '../../app/traffic.ts';
import { formatCount, formatDuration } from '../../lib/format.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Badge, Loading } from '../../ui/feedback.tsx';
import { type TimelineStep, toTimeline } from '../runs/step-tree.ts';

const REFRESH_MS = 2000;
const MAX_STEPS = 100;

const wide = window.matchMedia('(min-width: 72rem)');
const subscribe = (listener: () => void) => {
  wide.addEventListener('change', listener);
  return () => wide.removeEventListener('change', listener);
};

interface StepsPaneProps {
  readonly integration: string;
  readonly run: { readonly runId: string; readonly isActive: boolean } | null;
}

/** The last run's finished steps: beside the chat, or folded below it on narrow screens. */
export function StepsPane({ integration, run }: StepsPaneProps) {
  const isWide = useSyncExternalStore(subscribe, () => wide.matches);
  const content =
    run === null ? (
      <p className="muted">They appear here while an agent answers.</p>
    ) : (
      <Steps integration={integration} {...run} />
    );
  if (!isWide) {
    return (
      <details className="part steps-folded">
        <summary>
          <span className="part-title">Steps of the last run</span>
        </summary>
        <div className="part-body">{content}</div>
      </details>
    );
  }
  return (
    <aside className="steps" aria-label="Steps of the last run">
      <h2>Steps of the last run</h2>
      {content}
    </aside>
  );
}

interface StepsProps {
  readonly integration: string;
  readonly runId: string;
  readonly isActive: boolean;
}

function Steps({ integration, runId, isActive }: StepsProps) {
  const { data, error, refetch } = useQuery({
    // The last refresh is a new query, because the last steps end with the run.
    queryKey: ['runs', integration, runId, 'steps', isActive],
    queryFn: ({ queryKey, signal }) =>
      measured(queryKey, () =>
        api().runs.steps({ apiIntegrationId: integration, runId, limit: MAX_STEPS }, { signal }).page(),
      ),
    refetchInterval: ({ queryKey }) => isActive && pollMs([queryKey], REFRESH_MS),
    placeholderData: (before) => before,
  });
  if (error !== null && data === undefined) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Loading what="steps" />;
  const steps = toTimeline(data.items.toReversed());
  return (
    <>
      <Link to="/integrations/$integration/runs/$run" params={{ integration, run: runId }}>
        Open the run with all details
      </Link>
      {steps.length === 0 && (
        <p className="muted">{isActive ? 'No step has finished yet.' : 'The run has no steps.'}</p>
      )}
      {data.nextCursor !== null && <p className="muted">The newest {MAX_STEPS} steps:</p>}
      <ol className="step-list">
        {steps.map((row) => (
          <StepLine key={`${row.step.attempt} ${row.step.step}`} row={row} />
        ))}
      </ol>
    </>
  );
}

function StepLine({ row: { step, startMs, endMs } }: { readonly row: TimelineStep }) {
  const { kind, tool, model, agent, callerAgent, handoff, status, usage } = step;
  return (
    <li>
      <div className="spread">
        <span className="step-name">
          <bdi>{(kind === 'tool' ? tool : kind === 'model' ? model : null) ?? kind}</bdi>
        </span>
        {status === 'failed' ? (
          <Badge tone="bad">failed</Badge>
        ) : (
          <span className="number muted">{formatDuration(endMs - startMs)}</span>
        )}
      </div>
      <p className="small muted">
        <bdi>{agent}</bdi>
        {callerAgent !== null && (
          <>
            , asked by <bdi>{callerAgent}</bdi>
          </>
        )}
        {handoff !== null && (
          <>
            , hands over to <bdi>{handoff}</bdi>
          </>
        )}
        {usage !== null && `, ${formatCount(usage.total_tokens, 'token')}`}
      </p>
    </li>
  );
}
