import type { Usage } from '@runwire/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api } from '../../app/api.ts';
import { formatCount, formatDuration, formatNumber } from '../../lib/format.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Status } from '../../ui/feedback.tsx';

interface FiguresProps {
  readonly apiIntegrationId: string;
  readonly runId: string;
  readonly usageRequestId: string | null;
  readonly status: string;
  readonly firstTokenMs: number | null;
  readonly durationMs: number | null;
  readonly usage: Usage | null;
  readonly text: string;
}

/** How long an answer took, and what it used. */
export function Figures(props: FiguresProps) {
  const { apiIntegrationId, runId, usageRequestId, status, firstTokenMs, durationMs, usage, text } = props;
  return (
    <footer className="figures">
      {status !== 'completed' && <Status status={status} />}
      {firstTokenMs !== null && <span>First token {formatDuration(firstTokenMs)}</span>}
      {durationMs !== null && <span>Total {formatDuration(durationMs)}</span>}
      {usage !== null && (
        <span title={`${formatNumber(usage.input_tokens)} input, ${formatNumber(usage.output_tokens)} output`}>
          {formatCount(usage.total_tokens, 'token')}
        </span>
      )}
      <Link to="/integrations/$integration/runs/$run" params={{ integration: apiIntegrationId, run: runId }}>
        Open the run
      </Link>
      {text !== '' && <CopyButton text={text} label="Copy the answer" />}
      {/* Last, because it arrives later and must not move the others. */}
      {usageRequestId !== null && <Charge {...{ apiIntegrationId, runId, usageRequestId }} />}
    </footer>
  );
}

type ChargeProps = Pick<FiguresProps, 'apiIntegrationId' | 'runId'> & { readonly usageRequestId: string };

function Charge({ apiIntegrationId, runId, usageRequestId }: ChargeProps) {
  const { data } = useQuery({
    queryKey: ['usage', apiIntegrationId, 'of run', runId],
    queryFn: ({ signal }) => api().usage.list({ apiIntegrationId, usageRequestId }, { signal }).page(),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (data === undefined) return <span>…</span>;
  const record = data.items.find((item) => item.kind === 'run' && item.runId === runId);
  const charged = record?.kind === 'run' ? record.charged : null;
  if (charged === null) return <span title="The integration has no allowances.">Not charged</span>;
  const unit = charged.amount === 1 ? charged.unit.replace(/s$/, '') : charged.unit;
  return (
    <span>
      Charged {formatNumber(charged.amount)} {unit}
    </span>
  );
}
