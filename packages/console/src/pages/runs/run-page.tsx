import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { shorten } from '../../lib/shorten.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Badge, Loading, Status } from '../../ui/feedback.tsx';
import { Page } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { RunActions } from './run-actions.tsx';
import { RunPanes } from './run-panes.tsx';
import { runQuery } from './run-queries.ts';
import { toStatus } from './run-state.ts';
import './runs.css';

export function RunPage() {
  const { integration, run: runId } = useParams({ from: '/signed-in/integrations/$integration/runs/$run' });
  const { data, error, refetch } = useQuery(runQuery(integration, runId));
  if (data === undefined) {
    return (
      <Page title="Run">
        {error === null ? <Loading what="the run" /> : <ErrorNotice error={error} onRetry={() => void refetch()} />}
      </Page>
    );
  }
  const { run, steps } = data;
  return (
    <Page
      title={`Run of ${shorten(run.agent, 60)}`}
      place={run.runId}
      lead={
        <span className="row" role="status">
          <Status status={toStatus(run)} />
          {run.rerunOf !== null && <Badge>rerun</Badge>}
          <Time time={run.createdAt} age />
        </span>
      }
      actions={<RunActions run={run} />}
    >
      {error !== null && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      <RunPanes key={runId} run={run} steps={steps} />
    </Page>
  );
}
