import type { RunComparison, RunRecord, Step } from '@runwire/client';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { formatDuration } from '../../lib/format.ts';
import { shorten } from '../../lib/shorten.ts';
import { Badge } from '../../ui/feedback.tsx';
import { TextDiff } from '../../ui/text-diff.tsx';
import { RerunButton } from '../runs/rerun-button.tsx';
import { isKept } from '../runs/rerun-steps.ts';
import { toFacts } from '../runs/step-facts.ts';
import { StepTitle } from '../runs/step-title.tsx';
import type { PairState, StepTexts } from './step-contents.ts';

/** One of the two runs that a pair of steps belongs to. */
export interface ComparedSide {
  readonly name: string;
  readonly run: RunRecord;
  /** The steps after which the run can be run again. */
  readonly rerunSteps: ReadonlySet<number>;
}

interface StepPairProps {
  readonly pair: RunComparison['steps'][number];
  readonly sides: readonly [ComparedSide, ComparedSide];
  readonly texts: readonly [StepTexts | undefined, StepTexts | undefined];
  readonly state: PairState;
}

const TONES = {
  equal: 'neutral',
  'other text': 'warn',
  changed: 'warn',
  added: 'good',
  removed: 'bad',
} as const satisfies Record<PairState, string>;

const PARTS = [
  { part: 'arguments', title: 'Arguments', isCode: true },
  { part: 'reasoning', title: 'Reasoning', isCode: false },
  { part: 'output', title: 'Output', isCode: false },
  { part: 'calls', title: 'Calls', isCode: true },
] as const;

/** A step of each run. Their texts are compared when it is opened. */
export function StepPair({ pair: { left, right }, sides, texts, state }: StepPairProps) {
  const [isOpen, setOpen] = useState(false);
  const steps = [left, right] as const;
  return (
    <li className="pair">
      <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          {steps.map((step, side) => (
            <PairCell key={sides[side]?.name} step={step} side={sides[side] as ComparedSide} />
          ))}
          <Badge tone={TONES[state]}>{state}</Badge>
        </summary>
        {isOpen && (
          <div className="pair-body">
            <PairTexts steps={steps} sides={sides} texts={texts} />
            <div className="diff">
              {steps.map((step, side) => (
                <div key={sides[side]?.name} className="row">
                  {step !== null && <StepActions step={step} side={sides[side] as ComparedSide} />}
                </div>
              ))}
            </div>
          </div>
        )}
      </details>
    </li>
  );
}

function PairCell({ step, side: { name, run } }: { readonly step: Step | null; readonly side: ComparedSide }) {
  if (step === null) return <span className="small muted">not in {name.toLowerCase()}</span>;
  const facts = [formatDuration(Date.parse(step.completedAt) - Date.parse(step.startedAt)), toFacts(step)];
  return (
    <span className="pair-cell">
      <span className="ellipsis">
        <span className="visually-hidden">{name}: </span>
        {step.step}. <StepTitle kind={step.kind} tool={step.tool} />{' '}
        <bdi className="small muted">{shorten(step.agent)}</bdi>
      </span>
      <span className="row small muted">
        {isKept(run, step) && <Badge>kept</Badge>}
        <span className="ellipsis">{facts.filter((fact) => fact !== '').join(', ')}</span>
      </span>
    </span>
  );
}

function PairTexts({
  steps,
  sides,
  texts,
}: Pick<StepPairProps, 'sides' | 'texts'> & { readonly steps: readonly (Step | null)[] }) {
  const [left, right] = texts;
  if (left === undefined && right === undefined) return <p className="muted">The events of the step are not known.</p>;
  const shown = PARTS.filter(({ part }) => (left?.[part] ?? right?.[part] ?? null) !== null);
  if (shown.length === 0) return <p className="muted">The step has no text.</p>;
  const names = [sides[0].name, sides[1].name] as const;
  return shown.map(({ part, title, isCode }) => (
    <section key={part} className="stack-tight">
      <h3>{title}</h3>
      <TextDiff
        left={left?.[part] ?? null}
        right={right?.[part] ?? null}
        names={names}
        isCode={isCode || steps.some((step) => step?.kind === 'tool')}
      />
    </section>
  ));
}

function StepActions({ step, side: { run, name, rerunSteps } }: { readonly step: Step; readonly side: ComparedSide }) {
  return (
    <>
      <Link
        to="/integrations/$integration/runs/$run"
        params={{ integration: run.apiIntegrationId, run: run.runId }}
        search={{ step: String(step.step) }}
      >
        Open step {step.step} of {name.toLowerCase()}
      </Link>
      {rerunSteps.has(step.step) && <RerunButton run={run} afterStep={step.step} />}
    </>
  );
}
