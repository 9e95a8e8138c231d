import type { ServiceNode } from '@runwire/client';
import { useQuery } from '@tanstack/react-query';
import { wholeList } from '../../app/paged-list.ts';
import { formatNumber } from '../../lib/format.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { Status } from '../../ui/feedback.tsx';
import { Time } from '../../ui/time.tsx';
import { nodesQuery } from './health-queries.ts';
import { isRunning } from './sum-nodes.ts';

const COLUMNS: readonly Column<ServiceNode>[] = [
  { title: 'Node', share: 2, cell: ({ host, nodeId }) => <span title={nodeId}>{host ?? nodeId}</span> },
  { title: 'State', share: 1.25, cell: ({ state }) => <Status status={state} /> },
  { title: 'Version', isMinor: true, cell: ({ version }) => version },
  { title: 'Started', isMinor: true, cell: ({ startedAt }) => <Time time={startedAt} age /> },
  {
    title: 'Last seen',
    share: 2,
    cell: ({ lastSeenAt }) => (lastSeenAt === null ? 'never' : <Time time={lastSeenAt} age />),
  },
  { title: 'Runs', isNumber: true, cell: ({ activeRuns }) => formatNumber(activeRuns) },
];

const listStopped = (nodes: readonly ServiceNode[]) => nodes.filter((node) => !isRunning(node));

/** Nodes that have stopped or were fenced. They are listed for a day, and until other nodes have taken over their runs. */
export function StoppedNodes() {
  const list = wholeList(useQuery({ ...nodesQuery, select: listStopped }));
  if (list.rows.length === 0) return null;
  const orphans = list.rows.reduce((sum, { activeRuns }) => sum + activeRuns, 0);
  return (
    <section className="stack" aria-labelledby="stopped">
      <h2 id="stopped">Stopped nodes</h2>
      {orphans > 0 && (
        <div className="notice notice-warn">
          <strong>Stopped nodes have {formatNumber(orphans)} unfinished runs.</strong>
          <p>A running node takes them over within seconds.</p>
        </div>
      )}
      <DataTable what="stopped nodes" list={list} columns={COLUMNS} rowKey={({ nodeId }) => nodeId} empty={null} />
    </section>
  );
}
