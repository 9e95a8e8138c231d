import type { RunRecord } from '@runwire/client';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { shorten } from '../../lib/shorten.ts';
import { Status } from '../../ui/feedback.tsx';
import { RunError } from '../../ui/run-error.tsx';
import { Time } from '../../ui/time.tsx';
import { RerunButton } from '../runs/rerun-button.tsx';
import { isActive, toStatus } from '../runs/run-state.ts';
import { KeepEvalDialog } from './keep-eval-dialog.tsx';

interface RunCardProps {
  readonly name: string;
  readonly run: RunRecord;
}

/** One of two runs that are compared. */
export function RunCard({ name, run }: RunCardProps) {
  const { apiIntegrationId: integration, runId, agent, agents, models, rerunOf, error, createdAt } = run;
  const [isKeeping, setKeeping] = useState(false);
  return (
    <section className="card stack-tight" aria-label={name}>
      <div className="spread">
        <h2>{name}</h2>
        <Link to="/integrations/$integration/runs/$run" params={{ integration, run: runId }}>
          Open the run
        </Link>
      </div>
      <p className="row small muted">
        <Status status={toStatus(run)} /> <Time time={createdAt} age />
        <bdi>{shorten((agents ?? [agent]).join(', ') || agent)}</bdi>
        {models !== null && models.length > 0 && <code>{shorten(models.join(', '))}</code>}
      </p>
      {rerunOf !== null && rerunOf.afterStep > 0 && (
        <p className="small muted">It has the steps up to {rerunOf.afterStep} from its original run.</p>
      )}
      {error !== null && <RunError error={error} />}
      {!isActive(run) && (
        <div className="row">
          <RerunButton run={run} afterStep={0} />
          <button type="button" className="button" onClick={() => setKeeping(true)}>
            Keep as an eval
          </button>
        </div>
      )}
      {isKeeping && <KeepEvalDialog run={run} onClose={() => setKeeping(false)} />}
    </section>
  );
}
