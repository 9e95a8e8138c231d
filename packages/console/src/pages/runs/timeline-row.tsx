import { formatDuration } from '../../lib/format.ts';
import { shorten } from '../../lib/shorten.ts';
import { Badge, Status } from '../../ui/feedback.tsx';
import { toFacts } from './step-facts.ts';
import { StepTitle } from './step-title.tsx';
import type { TimelineStep } from './step-tree.ts';
import type { TimelineSpan } from './time-span.ts';
import { TimelineBar } from './timeline-bar.tsx';

interface TimelineRowProps {
  readonly row: TimelineStep;
  readonly span: TimelineSpan;
  /** True if a rerun has it from the original run. */
  readonly isKept: boolean;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
}

/** Deeper steps are not indented further, because narrow screens have no room. */
const MAX_DEPTH = 4;

export function TimelineRow({ row, span, isKept, isChosen, onChoose }: TimelineRowProps) {
  const { step, depth, startMs, endMs } = row;
  const { status, firstTokenMs } = step;
  const facts = toFacts(step);
  return (
    <li>
      <button
        type="button"
        className={`timeline-row timeline-${step.kind} timeline-${status}`}
        aria-current={isChosen ? 'true' : undefined}
        onClick={onChoose}
      >
        <span className="timeline-text" style={{ paddingInlineStart: `${Math.min(depth, MAX_DEPTH)}rem` }}>
          <span className="ellipsis">
            <StepTitle kind={step.kind} tool={step.tool} /> <bdi className="small muted">{shorten(step.agent)}</bdi>
          </span>
          {isKept && <Badge>kept</Badge>}
          {status !== 'completed' && <Status status={status} />}
        </span>
        <span className="small number">{formatDuration(endMs - startMs)}</span>
        {facts !== '' && <span className="timeline-facts small muted ellipsis">{facts}</span>}
        {!isKept && (
          <TimelineBar
            span={span}
            startMs={startMs}
            endMs={endMs}
            firstMs={firstTokenMs === null ? null : startMs + firstTokenMs}
          />
        )}
      </button>
    </li>
  );
}
