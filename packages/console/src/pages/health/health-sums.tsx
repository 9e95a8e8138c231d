import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { formatDuration, formatNumber } from '../../lib/format.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Nothing } from '../../ui/nothing.tsx';
import { readinessQuery } from './health-queries.ts';
import { Refusals } from './refusals.tsx';
import type { NodeSums } from './sum-nodes.ts';

const SANDBOXES = {
  bubblewrap: 'commands are isolated',
  'just-bash': 'the shell is emulated',
  exec: 'your program runs commands',
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
        <dl className="health-figures">
          <Figure title="Nodes alive" value={formatNumber(sums.alive)} note={`version ${sums.versions.join(', ')}`} />
          <Figure title="Active runs" value={formatNumber(sums.activeRuns)} note="not finished yet" />
          <Figure title="Open streams" value={formatNumber(sums.openStreams)} note="of events of runs" />
          <Figure title="Event lag" value={formatDuration(sums.eventLagMs)} note="until events were stored" />
          <Figure title="Writer queue" value={formatNumber(sums.writerQueue)} note="waiting transactions" />
          <Figure title="Admitted" value={formatNumber(sums.admitted)} note="requests that started a run" />
          <Figure title="Replayed" value={formatNumber(sums.replayed)} note="requests sent again" />
          <Figure title="Refused" value={formatNumber(sums.refused)} note="requests with an error" />
          <Figure
            title="Store"
            value={ready?.store ?? <Nothing />}
            note={ready === undefined ? 'not known' : 'ready'}
          />
          <Figure
            title="Sandbox"
            value={ready?.sandbox.kind ?? <Nothing />}
            note={ready === undefined ? 'not known' : SANDBOXES[ready.sandbox.kind]}
          />
        </dl>
        <p className="muted small">Requests are counted since each node was started.</p>
        {sums.refusedByCode.length > 0 && <Refusals refusals={sums.refusedByCode} />}
      </section>
    </>
  );
}

interface FigureProps {
  readonly title: string;
  readonly value: ReactNode;
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
