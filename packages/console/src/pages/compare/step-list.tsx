import type { RunComparison, Step } from '@runwire/client';
import { useMemo } from 'react';
import { formatCount } from '../../lib/format.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import type { EventLog, LogState } from '../runs/event-log.ts';
import { isKept } from '../runs/rerun-steps.ts';
import { isActive } from '../runs/run-state.ts';
import { useEventLog } from '../runs/use-event-log.ts';
import { readTexts, type StepTexts, type TextsByStep, toState } from './step-contents.ts';
import { type ComparedSide, StepPair } from './step-pair.tsx';

interface SideWithSteps extends ComparedSide {
  readonly steps: readonly Step[];
}

interface StepListProps {
  readonly pairs: RunComparison['steps'];
  readonly sides: readonly [SideWithSteps, SideWithSteps];
  readonly onlyDifferences: boolean;
  readonly onOnly: (isOnly: boolean) => void;
}

/** The steps of two runs in pairs. */
export function StepList({ pairs, sides, onlyDifferences, onOnly }: StepListProps) {
  const [left, right] = [useTexts(sides[0]), useTexts(sides[1])];
  const shown = useMemo(
    () =>
      pairs
        .map((pair) => {
          const texts = toTexts(pair, sides, [left.texts, right.texts]);
          return { pair, texts, state: toState(pair, ...texts) };
        })
        .filter(({ state }) => !onlyDifferences || state !== 'equal'),
    [pairs, sides, left.texts, right.texts, onlyDifferences],
  );
  const failed = [left, right].find(({ state }) => state.error !== null);
  return (
    <section className="stack-tight" aria-labelledby="steps">
      <div className="spread">
        <h2 id="steps">Steps</h2>
        <label className="check">
          <input type="checkbox" checked={onlyDifferences} onChange={({ target }) => onOnly(target.checked)} />
          Only differences
        </label>
      </div>
      {failed !== undefined && <ErrorNotice error={failed.state.error} onRetry={() => failed.log.start()} />}
      <ol className="pairs">
        {shown.map(({ pair, texts, state }) => (
          <StepPair
            key={`${pair.left?.step} ${pair.right?.step}`}
            pair={pair}
            sides={sides}
            texts={texts}
            state={state}
          />
        ))}
      </ol>
      <p className="small muted" role="status">
        {shown.length === pairs.length
          ? `${formatCount(pairs.length, 'step')}.`
          : `${shown.length} of ${formatCount(pairs.length, 'step')}.`}
        {failed === undefined && (left.texts === null || right.texts === null) && ' Their texts are being read.'}
      </p>
    </section>
  );
}

interface SideTexts {
  /** Null until they are read. */
  readonly texts: TextsByStep | null;
  readonly log: EventLog;
  readonly state: LogState;
}

/** Reads what the steps of a run did. An active run's are read when it has ended. */
function useTexts({ run, steps }: SideWithSteps): SideTexts {
  const [log, state] = useEventLog(run, !isActive(run));
  const isRead = !state.isReading && state.error === null;
  const texts = useMemo(() => (isRead ? readTexts(log.frames, steps) : null), [isRead, log, steps]);
  return { texts, log, state };
}

type Texts = readonly [StepTexts | undefined, StepTexts | undefined];

/** A step that a rerun keeps is that of its original run. */
function toTexts(
  { left, right }: RunComparison['steps'][number],
  sides: StepListProps['sides'],
  [leftTexts, rightTexts]: readonly [TextsByStep | null, TextsByStep | null],
): Texts {
  const find = (side: ComparedSide, step: Step | null, texts: TextsByStep | null) =>
    step === null || isKept(side.run, step) ? undefined : texts?.get(step.step);
  const one = find(sides[0], left, leftTexts);
  const other = find(sides[1], right, rightTexts);
  const isSame = (side: ComparedSide, step: Step | null, original: ComparedSide) =>
    step !== null && isKept(side.run, step) && side.run.rerunOf?.runId === original.run.runId;
  if (isSame(sides[1], right, sides[0])) return [one, one];
  if (isSame(sides[0], left, sides[1])) return [other, other];
  return [one, other];
}
