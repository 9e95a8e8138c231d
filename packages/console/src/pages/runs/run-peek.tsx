import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { formatCount, formatDuration } from '../../lib/format.ts';
import { shorten } from '../../lib/shorten.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Loading, Status } from '../../ui/feedback.tsx';
import { LongText } from '../../ui/long-text.tsx';
import { MemberName } from '../../ui/member-name.tsx';
import { RunError } from '../../ui/run-error.tsx';
import { Time } from '../../ui/time.tsx';
import type { PeekProps } from '../lists/list-kind.ts';
import { runQuery } from './run-queries.ts';
import { getDuration, toStatus } from './run-state.ts';
import { StepTitle } from './step-title.tsx';
import { toTimeline } from './step-tree.ts';

const MAX_TEXT = 1500;
const MAX_STEPS = 20;

/** A run in short, beside the list. */
export function RunPeek({ integration, id }: PeekProps) {
  const { data, error, refetch } = useQuery(runQuery(integration, id));
  if (data === undefined) {
    return error === null ? <Loading what="the run" /> : <ErrorNotice error={error} onRetry={() => void refetch()} />;
  }
  const { run, steps } = data;
  const rows = toTimeline(steps);
  const params = { integration, run: id };
  return (
    <>
      <div className="spread">
        <h2>Run of {shorten(run.agent, 60)}</h2>
        <Link className="button button-small" to="/integrations/$integration/runs/$run" params={params}>
          Open the run
        </Link>
      </div>
      <p className="row small muted">
        <Status status={toStatus(run)} /> <Time time={run.createdAt} age />
        <span>{formatDuration(getDuration(run))}</span>
        <MemberName integration={integration} consumerId={run.consumerId} />
      </p>
      {run.error !== null && <RunError error={run.error} />}
      {run.chatDeleted ? (
        <p className="muted">The chat of this run was deleted.</p>
      ) : (
        <>
          <section>
            <h3>Message</h3>
            <LongText text={run.messagePreview ?? 'Message without text'} />
          </section>
          <section>
            <h3>Answer</h3>
            {run.message === null || run.message === '' ? (
              <p className="muted">The run has no text.</p>
            ) : (
              <LongText text={run.message} maxShown={MAX_TEXT} />
            )}
          </section>
          <section>
            <h3>Steps</h3>
            <ol className="peek-steps">
              {rows.slice(0, MAX_STEPS).map(({ step, startMs, endMs }) => (
                <li key={step.step}>
                  <span className="ellipsis">
                    <Link
                      to="/integrations/$integration/runs/$run"
                      params={params}
                      search={{ step: String(step.step) }}
                    >
                      <StepTitle kind={step.kind} tool={step.tool} />
                    </Link>{' '}
                    <bdi className="small muted">{shorten(step.agent)}</bdi>
                  </span>
                  <span className="row small number">
                    {step.status !== 'completed' && <Status status={step.status} />}
                    {formatDuration(endMs - startMs)}
                  </span>
                </li>
              ))}
            </ol>
            {rows.length > MAX_STEPS && (
              <p className="small muted">{formatCount(rows.length - MAX_STEPS, 'further step')}</p>
            )}
            {rows.length === 0 && <p className="muted">No step has finished.</p>}
          </section>
        </>
      )}
    </>
  );
}
