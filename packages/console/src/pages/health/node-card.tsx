import type { ServiceNode } from '@runwire/client';
import type { ReactNode } from 'react';
import { formatDuration, formatNumber } from '../../lib/format.ts';
import { Badge, Status } from '../../ui/feedback.tsx';
import { Nothing } from '../../ui/nothing.tsx';
import { Time } from '../../ui/time.tsx';

interface NodeCardProps {
  readonly node: ServiceNode;
  /** True if another node has another version. */
  readonly hasOtherVersions: boolean;
}

const sumRefused = (refused: Readonly<Record<string, number>>) => Object.values(refused).reduce((sum, n) => sum + n, 0);

export function NodeCard({ node, hasOtherVersions }: NodeCardProps) {
  const { nodeId, state, self, version, host, address, startedAt, lastSeenAt, activeRuns, stats } = node;
  return (
    <article className="card stack" aria-label={`Node ${nodeId}`}>
      <div className="stack-tight">
        <div className="spread">
          <h3>{host ?? nodeId}</h3>
          <span className="row">
            {self && <Badge>replies to you</Badge>}
            <Status status={state} />
          </span>
        </div>
        <code className="node-id muted">{nodeId}</code>
      </div>
      <dl className="definition">
        <Line title="Version">{hasOtherVersions ? <Badge tone="warn">{version}</Badge> : version}</Line>
        <Line title="Address">{address ?? <Nothing />}</Line>
        <Line title="Started">
          <Time time={startedAt} />
        </Line>
        <Line title="Last seen">{lastSeenAt === null ? 'never' : <Time time={lastSeenAt} age />}</Line>
        <Line title="Active runs">{formatNumber(activeRuns)}</Line>
        {stats === null ? (
          <Line title="Figures">none yet</Line>
        ) : (
          <>
            <Line title="Open streams">{formatNumber(stats.openStreams)}</Line>
            <Line title="Admitted">{formatNumber(stats.admissions.admitted)}</Line>
            <Line title="Replayed">{formatNumber(stats.admissions.replayed)}</Line>
            <Line title="Refused">{formatNumber(sumRefused(stats.admissions.refused))}</Line>
            <Line title="Event lag">{formatDuration(stats.eventLagMs)}</Line>
            <Line title="Writer queue">{formatNumber(stats.writerQueue)}</Line>
          </>
        )}
      </dl>
    </article>
  );
}

function Line({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <>
      <dt>{title}</dt>
      <dd className="number">{children}</dd>
    </>
  );
}
