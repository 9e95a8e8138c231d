import type { RunRecord, Step } from '@runwire/client';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { changedSearch } from '../../app/search.ts';
import { formatJson } from '../../lib/format.ts';
import { shorten } from '../../lib/shorten.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { EmptyState, Loading } from '../../ui/feedback.tsx';
import { Page } from '../../ui/page.tsx';
import { TextDiff } from '../../ui/text-diff.tsx';
import { listRerunSteps } from '../runs/rerun-steps.ts';
import { inputQuery } from '../runs/run-queries.ts';
import { isActive } from '../runs/run-state.ts';
import { type Comparison, comparisonQuery } from './comparison-query.ts';
import { FiguresTable } from './figures-table.tsx';
import { RunCard } from './run-card.tsx';
import { StepList } from './step-list.tsx';
import './compare.css';

const ROUTE = '/integrations/$integration/runs/$run/compare';

/** Two runs side by side. */
export function ComparePage() {
  const { integration, run: left } = useParams({ from: `/signed-in${ROUTE}` });
  const { with: right, only } = useSearch({ from: `/signed-in${ROUTE}` });
  const navigate = useNavigate({ from: ROUTE });
  const { data, error, refetch } = useQuery({
    ...comparisonQuery(integration, left, right ?? ''),
    enabled: right !== undefined,
  });
  return (
    <Page
      title="Compare two runs"
      place={`${left} ${right}`}
      lead="What the runs were asked, what they did, and what it took. Words that differ are marked."
    >
      {right === undefined ? (
        <EmptyState title="No second run">
          <p>Open a run, and choose another one with Compare.</p>
        </EmptyState>
      ) : data === undefined ? (
        error === null ? (
          <Loading what="the comparison" />
        ) : (
          <ErrorNotice error={error} onRetry={() => void refetch()} />
        )
      ) : (
        <ComparedRuns
          key={`${left} ${right}`}
          compared={data}
          onlyDifferences={only === 'differences'}
          onOnly={(isOnly) =>
            void navigate({
              search: changedSearch({ only: isOnly ? 'differences' : '' }),
              replace: true,
              resetScroll: false,
            })
          }
        />
      )}
    </Page>
  );
}

/** What the two runs are called. */
function toNames([left, right]: Comparison['runs']): readonly [string, string] {
  if (right.rerunOf?.runId === left.runId) return ['Original', 'Rerun'];
  if (left.rerunOf?.runId === right.runId) return ['Rerun', 'Original'];
  return ['First run', 'Second run'];
}

interface ComparedRunsProps {
  readonly compared: Comparison;
  readonly onlyDifferences: boolean;
  readonly onOnly: (isOnly: boolean) => void;
}

function ComparedRuns({ compared, onlyDifferences, onOnly }: ComparedRunsProps) {
  const { runs, steps, text } = compared;
  const [left, right] = runs;
  const names = toNames(runs);
  const sides = useMemo(() => {
    const toSteps = (side: 'left' | 'right') => steps.flatMap((pair) => pair[side] ?? []);
    const toSide = (run: RunRecord, name: string, own: readonly Step[]) => ({
      run,
      name,
      steps: own,
      rerunSteps: listRerunSteps(run, own),
    });
    return [toSide(left, names[0], toSteps('left')), toSide(right, names[1], toSteps('right'))] as const;
  }, [left, right, steps, names[0], names[1]]);
  const output = [left, right].map((run) => (run.output == null ? null : formatJson(run.output)));
  const hasOutput = output.some((one) => one !== null);
  return (
    <div className="stack-wide">
      <div className="compared-runs">
        <RunCard name={names[0]} run={left} />
        <RunCard name={names[1]} run={right} />
      </div>
      <FiguresTable compared={compared} names={names} />
      <section className="stack-tight" aria-labelledby="messages">
        <h2 id="messages">Message</h2>
        <Messages runs={runs} names={names} />
      </section>
      <section className="stack-tight" aria-labelledby="answers">
        <h2 id="answers">Answer</h2>
        {runs.some(isActive) ? (
          <p className="muted">{shorten(names[isActive(right) ? 1 : 0])} has not ended yet.</p>
        ) : (
          <TextDiff
            left={hasOutput ? (output[0] ?? null) : text.left}
            right={hasOutput ? (output[1] ?? null) : text.right}
            names={names}
            isCode={hasOutput}
          />
        )}
      </section>
      <StepList pairs={steps} sides={sides} onlyDifferences={onlyDifferences} onOnly={onOnly} />
    </div>
  );
}

/** The messages that the runs answer. */
function Messages({
  runs: [left, right],
  names,
}: Pick<Comparison, 'runs'> & { readonly names: readonly [string, string] }) {
  const [one, other] = [useQuery(inputQuery(left)), useQuery(inputQuery(right))];
  if (one.isPending || other.isPending) return <p className="muted">Loading the messages…</p>;
  const failed = [one, other].find(({ error }) => error !== null);
  if (failed !== undefined) return <ErrorNotice error={failed.error} onRetry={() => void failed.refetch()} />;
  return <TextDiff left={one.data?.content ?? null} right={other.data?.content ?? null} names={names} />;
}
