import { useQuery } from '@tanstack/react-query';
import { formatDuration, formatNumber } from '../../lib/format.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { readinessQuery } from './health-queries.ts';
import { Refusals } from './refusals.tsx';
import type { NodeSums } from './sum-nodes.ts';

const SANDBOXES = {
  bubblewrap: 'commands run in a container of their own',
  'just-bash': 'commands run in an emulated shell',
  exec: 'commands run in a program of the operator',
  off: 'agents run no commands',
};

/** All nodes together, and what the answering node reports about its store and sandbox. */
export function HealthSums({ sums }: { readonly sums: NodeSums }) {
  const { data: ready, error, refetch } = useQuery(readinessQuery);
  return (
    <>
      {error !== null && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      <section className="stack" aria-labelledby="sums">
        <h2 id="sums">All nodes</h2>
        <dl className="figures">
          <Figure title="Nodes alive" value={formatNumber(sums.alive)} note={`Version ${sums.versions.join(', ')}`} />
          <Figure title="Active runs" value={formatNumber(sums.activeRuns)} note="not finished yet" />
          <Figure title="Open streams" value={formatNumber(sums.openStreams)} note="of runs" />
          <Figure title="Event lag" value={formatDuration(sums.eventLagMs)} note="until an event was stored, at most" />
          <Figure title="Writer queue" value={formatNumber(sums.writerQueue)} note="transactions that wait" />
          <Figure title="Store" value={ready?.store ?? '–'} note={ready === undefined ? 'not known' : 'ready'} />
          <Figure
            title="Sandbox"
            value={ready?.sandbox.kind ?? '–'}
            note={ready === undefined ? 'not known' : SANDBOXES[ready.sandbox.kind]}
          />
        </dl>
      </section>
      <section className="stack" aria-labelledby="admissions">
        <h2 id="admissions">Admissions</h2>
        <p className="muted">Requests for a run since each node was started.</p>
        <dl className="figures">
          <Figure title="Admitted" value={formatNumber(sums.admitted)} note="started a run" />
          <Figure title="Replayed" value={formatNumber(sums.replayed)} note="got the run of an earlier request" />
          <Figure title="Refused" value={formatNumber(sums.refused)} note="got an error" />
        </dl>
        {sums.refusedByCode.length > 0 && <Refusals refusals={sums.refusedByCode} />}
      </section>
    </>
  );
}

interface FigureProps {
  readonly title: string;
  readonly value: string;
  readonly note: string;
}

function Figure({ title, value, note }: FigureProps) {
  return (
    <div className="card figure">
      <dt>{title}</dt>
      <dd className="figure-value">{value}</dd>
      <dd className="muted small">{note}</dd>
    </div>
  );
}
