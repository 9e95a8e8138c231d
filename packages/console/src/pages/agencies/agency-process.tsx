import type { Agency } from '@runwire/client';
import { Fragment } from 'react';
import { formatBytes, formatNumber } from '../../lib/format.ts';
import { Status } from '../../ui/feedback.tsx';
import { Prose } from '../../ui/prose.tsx';
import { Time } from '../../ui/time.tsx';
import { Fact } from './fact.tsx';

interface AgencyProcessProps {
  readonly process: Agency['process'];
}

/** The process that runs the agency's code, as the node that answered sees it. */
export function AgencyProcess({ process: { state, pid, memoryBytes, restarts, lastFault } }: AgencyProcessProps) {
  return (
    <section className="stack-tight" aria-labelledby="process">
      <h2 id="process">Process</h2>
      {state === 'none' ? (
        <p className="muted">This agency has no code that runs in a process of its own.</p>
      ) : (
        <div className="card stack">
          <dl className="agency-facts process-facts">
            <Fact title="State">
              <Status status={state} />
            </Fact>
            <Fact title="Memory">{memoryBytes === null ? 'not measured' : formatBytes(memoryBytes)}</Fact>
            <Fact title="Restarts after a fault">{formatNumber(restarts)}</Fact>
            <Fact title="Process id">{pid ?? 'none'}</Fact>
          </dl>
          {lastFault !== null && <LastFault fault={lastFault} />}
        </div>
      )}
    </section>
  );
}

function LastFault({ fault }: { readonly fault: NonNullable<Agency['process']['lastFault']> }) {
  const { message, tool, callId, runId, at } = fault;
  const parts = [['Tool', tool] as const, ['Call', callId] as const, ['Run', runId] as const];
  const named = parts.filter(([, value]) => value !== null);
  return (
    <div className="stack-tight">
      <h3>Last fault</h3>
      <p className="process-fault">
        <Prose text={message} />
      </p>
      <dl className="definition">
        <dt>Time</dt>
        <dd>
          <Time time={at} />
        </dd>
        {named.map(([title, value]) => (
          <Fragment key={title}>
            <dt>{title}</dt>
            <dd>
              <code>{value}</code>
            </dd>
          </Fragment>
        ))}
      </dl>
    </div>
  );
}
