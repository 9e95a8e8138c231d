import type { RunRecord, Step } from '@runwire/client';
import { useState } from 'react';
import { formatCount, formatDuration } from '../../lib/format.ts';
import { Status } from '../../ui/feedback.tsx';
import { SelectField } from '../../ui/form.tsx';
import { CurrentRow } from './current-row.tsx';
import { type CurrentStep, startOfCurrent } from './current-steps.ts';
import { isKept } from './rerun-steps.ts';
import { getDuration, getStart, isActive, toStatus } from './run-state.ts';
import type { TimelineStep } from './step-tree.ts';
import { type TimelineSpan, zoomIn, zoomOut } from './time-span.ts';
import { TimelineAxis } from './timeline-axis.tsx';
import { TimelineRow } from './timeline-row.tsx';

interface TimelineProps {
  readonly run: RunRecord;
  readonly rows: readonly TimelineStep[];
  /** What an active run does now. */
  readonly current: readonly CurrentStep[];
  /** Null if the whole run is chosen. */
  readonly chosen: Step | null;
  readonly search: { readonly kind?: string; readonly failed?: string };
  readonly onChoose: (step: Step | null) => void;
  readonly onFilter: (changed: { readonly kind?: string; readonly failed?: string }) => void;
}

const KINDS = [
  { value: '', label: 'All' },
  { value: 'model', label: 'Model' },
  { value: 'tool', label: 'Tool' },
  { value: 'guardrail', label: 'Guardrails' },
  { value: 'summary', label: 'Summary' },
];

/** A run's steps by agent: the finished ones, then what runs now. Their bars show when they ran. */
export function Timeline({ run, rows, current, chosen, search, onChoose, onFilter }: TimelineProps) {
  const { kind = '', failed = '' } = search;
  const shown = rows.filter(
    ({ step }) => (kind === '' || step.kind === kind) && (failed === '' || step.status === 'failed'),
  );
  const running = current.filter((step) => failed === '' && (kind === '' || step.kind === kind));
  const steps = rows.map(({ step }) => step);
  const whole = { startMs: getStart(run), durationMs: getDuration(run) };
  const [zoomed, setZoomed] = useState<TimelineSpan | null>(null);
  const span = zoomed ?? whole;
  const chosenRow = rows.find(({ step }) => step.step === chosen?.step) ?? null;
  return (
    <section className="card timeline" aria-label="Steps">
      <search className="spread timeline-filters" aria-label="Filters of steps">
        <SelectField
          label="Kind"
          name="kind"
          choices={KINDS}
          value={kind}
          onChange={(changed) => onFilter({ kind: changed })}
        />
        <label className="check timeline-check">
          <input
            type="checkbox"
            checked={failed !== ''}
            onChange={({ target }) => onFilter({ failed: target.checked ? 'yes' : '' })}
          />
          Failed only
        </label>
        <span className="row">
          <button type="button" className="button button-small" onClick={() => setZoomed(zoomIn(span, chosenRow))}>
            Zoom in
          </button>
          <button
            type="button"
            className="button button-small"
            disabled={zoomed === null}
            onClick={() => setZoomed(zoomOut(span, whole))}
          >
            Zoom out
          </button>
        </span>
      </search>
      <TimelineAxis span={span} beginMs={whole.startMs} />
      <ol className="timeline-rows">
        <li>
          <button
            type="button"
            className="timeline-row"
            aria-current={chosen === null ? 'true' : undefined}
            onClick={() => onChoose(null)}
          >
            <span className="timeline-text">
              <strong>Whole run</strong>
              <Status status={toStatus(run)} />
            </span>
            <span className="small number">{formatDuration(whole.durationMs)}</span>
          </button>
        </li>
        {shown.map((row) => (
          <TimelineRow
            key={row.step.step}
            row={row}
            span={span}
            isKept={isKept(run, row.step)}
            isChosen={row.step.step === chosen?.step}
            onChoose={() => onChoose(row.step)}
          />
        ))}
        {running.map((step) => (
          <CurrentRow
            key={step.eventId}
            step={step}
            startMs={startOfCurrent(step, run, steps)}
            span={span}
            whole={whole}
          />
        ))}
      </ol>
      <p className="small muted" role="status">
        {toSentence(run, steps.length, shown.length)}
      </p>
    </section>
  );
}

function toSentence(run: RunRecord, total: number, shown: number): string {
  if (run.chatDeleted) return 'The chat was deleted, and the steps with it.';
  if (total === 0) return isActive(run) ? 'No step has finished yet.' : 'The run ended before a step had finished.';
  if (shown === 0) return `No step matches the filters; ${formatCount(total, 'step')} in all.`;
  const finished = shown === total ? formatCount(total, 'step') : `${shown} of ${formatCount(total, 'step')}`;
  return isActive(run) ? `${finished} finished; the run continues.` : `${finished}.`;
}
