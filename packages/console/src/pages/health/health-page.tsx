import { useQuery } from '@tanstack/react-query';
import { meQuery } from '../../app/queries.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Loading } from '../../ui/feedback.tsx';
import { Page } from '../../ui/page.tsx';
import { HealthSums } from './health-sums.tsx';
import './health.css';
import { nodesQuery } from './health-queries.ts';
import { NodeCard } from './node-card.tsx';
import { StoppedNodes } from './stopped-nodes.tsx';
import { isRunning, sumNodes } from './sum-nodes.ts';

export function HealthPage() {
  const { data: me } = useQuery(meQuery);
  return (
    <Page title="Health" lead="The nodes of this installation, as they report every few seconds.">
      {me === undefined ? <Loading what="the nodes" /> : <Nodes />}
    </Page>
  );
}

function Nodes() {
  const { data: nodes, error, refetch } = useQuery(nodesQuery);
  const notice = error !== null && <ErrorNotice error={error} onRetry={() => void refetch()} />;
  if (nodes === undefined) return notice || <Loading what="the nodes" />;
  const sums = sumNodes(nodes);
  const running = nodes.filter(isRunning);
  return (
    <div className="stack-wide">
      {notice}
      {sums.versions.length > 1 && (
        <div className="notice notice-warn">
          <strong>The nodes have different versions: {sums.versions.join(', ')}.</strong>
          <p>This is normal during an upgrade. Otherwise start all nodes with the same version.</p>
        </div>
      )}
      <HealthSums sums={sums} />
      <section className="stack" aria-labelledby="running">
        <h2 id="running">Running nodes</h2>
        <div className="grid">
          {running.map((node) => (
            <NodeCard key={node.nodeId} node={node} hasOtherVersions={sums.versions.length > 1} />
          ))}
        </div>
      </section>
      <StoppedNodes />
    </div>
  );
}
