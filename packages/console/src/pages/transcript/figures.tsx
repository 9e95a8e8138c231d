import type { Usage } from '@runwire/client';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { ChargedRun } from '../../app/queries.ts';
import { formatCount, formatDuration, formatNumber } from '../../lib/format.ts';
import { Charge } from '../../ui/charge.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Status } from '../../ui/feedback.tsx';

interface FiguresProps {
  /** `runId` is null if the answer was imported. */
  readonly run: { readonly apiIntegrationId: string; readonly runId: string | null };
  /** As people see it. */
  readonly status: string;
  /** Null until the run is read. */
  readonly charged: ChargedRun | null;
  readonly firstTokenMs: number | null;
  /** From the message to the end of the answer, as this page saw it. */
  readonly totalMs: number | null;
  /** How long the run took on the server. It is shown if the page did not see the run. */
  readonly durationMs: number | null;
  readonly usage: Usage | null;
  readonly text: string;
  readonly actions?: ReactNode;
}

/** How long an answer took, and what it used. */
export function Figures(props: FiguresProps) {
  const { run, status, charged, firstTokenMs, totalMs, durationMs, usage, text, actions } = props;
  const { apiIntegrationId, runId } = run;
  return (
    <footer className="answer-figures">
      {status !== 'completed' && <Status status={status} />}
      {runId !== null && (
        <Link to="/integrations/$integration/runs/$run" params={{ integration: apiIntegrationId, run: runId }}>
          Open the run
        </Link>
      )}
      {text !== '' && <CopyButton text={text} label="Copy the answer" />}
      {actions}
      {/* What follows can arrive later, and must not move the rest. */}
      {firstTokenMs !== null && <span>First token {formatDuration(firstTokenMs)}</span>}
      {totalMs !== null && <span>Total {formatDuration(totalMs)}</span>}
      {totalMs === null && durationMs !== null && <span>Duration {formatDuration(durationMs)}</span>}
      {usage !== null && (
        <span>
          {formatCount(usage.total_tokens, 'token')} ({formatNumber(usage.input_tokens)} input,{' '}
          {formatNumber(usage.output_tokens)} output)
        </span>
      )}
      {runId !== null && (
        <span className="answer-charge">Charge: {charged === null ? 'loading…' : <Charge run={charged} />}</span>
      )}
    </footer>
  );
}
