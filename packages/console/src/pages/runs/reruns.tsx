import type { RunRecord } from '@runwire/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Status } from '../../ui/feedback.tsx';
import { Time } from '../../ui/time.tsx';
import { rerunsQuery } from './run-queries.ts';
import { toStatus } from './run-state.ts';

/** The newest reruns of a run. Nothing if it has none. */
export function Reruns({ run }: { readonly run: RunRecord }) {
  const { data, error, refetch } = useQuery(rerunsQuery(run));
  const { apiIntegrationId: integration, runId } = run;
  if (error !== null) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  if (data === undefined || data.items.length === 0) return null;
  return (
    <section aria-labelledby="reruns">
      <h3 id="reruns">Reruns</h3>
      <ul className="plain-list">
        {data.items.map((rerun) => (
          <li key={rerun.runId} className="row">
            <Link to="/integrations/$integration/runs/$run" params={{ integration, run: rerun.runId }}>
              {rerun.rerunOf?.afterStep === 0 ? 'From the beginning' : `After step ${rerun.rerunOf?.afterStep}`}
            </Link>
            <Time time={rerun.createdAt} age />
            <Status status={toStatus(rerun)} />
            <Link
              to="/integrations/$integration/runs/$run/compare"
              params={{ integration, run: runId }}
              search={{ with: rerun.runId }}
            >
              Compare
            </Link>
          </li>
        ))}
      </ul>
      {data.nextCursor !== null && (
        <Link to="/integrations/$integration/runs" params={{ integration }} search={{ original: runId }}>
          All reruns
        </Link>
      )}
    </section>
  );
}
