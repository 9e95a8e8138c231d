import { formatDuration } from '../../lib/format.ts';
import { shorten } from '../../lib/shorten.ts';
import { Status } from '../../ui/feedback.tsx';
import type { CurrentStep } from './current-steps.ts';
import { StepTitle } from './step-title.tsx';
import type { TimelineSpan } from './time-span.ts';
import { TimelineBar } from './timeline-bar.tsx';

interface CurrentRowProps {
  readonly step: CurrentStep;
  readonly startMs: number;
  readonly span: TimelineSpan;
  /** The time of the run so far. */
  readonly whole: TimelineSpan;
}

/** What the run does now. It has no details until it has finished. */
export function CurrentRow({ step: { kind, tool, agent, loop }, startMs, span, whole }: CurrentRowProps) {
  const nowMs = whole.startMs + whole.durationMs;
  return (
    <li className={`timeline-row timeline-current timeline-${kind}`}>
      <span className="timeline-text" style={{ paddingInlineStart: loop === null ? 0 : '1rem' }}>
        <span className="ellipsis">
          <StepTitle kind={kind} tool={tool} /> <bdi className="small muted">{shorten(agent)}</bdi>
        </span>
        <Status status="running" />
      </span>
      <span className="small number">{formatDuration(Math.max(0, nowMs - startMs))}</span>
      <TimelineBar span={span} startMs={startMs} endMs={nowMs} />
    </li>
  );
}
