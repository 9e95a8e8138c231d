import type { RunRecord, Step } from '@runwire/client';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { formatDuration, formatJson } from '../../lib/format.ts';
import { shorten } from '../../lib/shorten.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Loading, Status } from '../../ui/feedback.tsx';
import { JsonView } from '../../ui/json-view.tsx';
import { LongText } from '../../ui/long-text.tsx';
import { Nothing } from '../../ui/nothing.tsx';
import { RunError } from '../../ui/run-error.tsx';
import { Time } from '../../ui/time.tsx';
import { ToolImages } from '../transcript/tool-images.tsx';
import { ChangedFiles } from './changed-files.tsx';
import type { EventLog, LogState } from './event-log.ts';
import { Guardrails } from './guardrails.tsx';
import { RerunButton } from './rerun-button.tsx';
import { isKept } from './rerun-steps.ts';
import { type StepContent, toContent } from './step-content.ts';
import { StepTitle } from './step-title.tsx';
import type { TimelineStep } from './step-tree.ts';
import { UsageText } from './usage-text.tsx';

interface StepDetailsProps {
  readonly run: RunRecord;
  /** True if the run can be run again after the step. */
  readonly canRerun: boolean;
  readonly row: TimelineStep;
  readonly log: EventLog;
  readonly logState: LogState;
  readonly onWholeRun: () => void;
}

export function StepDetails({ run, canRerun, row, log, logState, onWholeRun }: StepDetailsProps) {
  const { apiIntegrationId: integration, rerunOf } = run;
  const { step, startMs, endMs } = row;
  const isRead = !logState.isReading || (log.frames.at(-1)?.id ?? 0) >= step.lastEventId;
  const content = useMemo(() => (isRead ? toContent(log.frames, step) : null), [isRead, log, step]);
  return (
    <div className="stack">
      <div className="spread">
        <h2>
          <StepTitle kind={step.kind} tool={step.tool} />
        </h2>
        <span className="row">
          {canRerun && <RerunButton run={run} afterStep={step.step} />}
          <button type="button" className="button button-small" onClick={onWholeRun}>
            Show the whole run
          </button>
        </span>
      </div>
      {step.error !== null && <RunError error={step.error} />}
      {rerunOf !== null && isKept(run, step) ? (
        <p>
          The rerun has this step from{' '}
          <Link
            to="/integrations/$integration/runs/$run"
            params={{ integration, run: rerunOf.runId }}
            search={{ step: String(step.step) }}
          >
            the original run
          </Link>
          .
        </p>
      ) : (
        <>
          {logState.error !== null && <ErrorNotice error={logState.error} onRetry={() => log.start()} />}
          {content !== null && <Content content={content} />}
          {content === null && logState.error === null && <Loading what="the events of the step" />}
        </>
      )}
      {step.summary !== null && (
        <section>
          <h3>Summary of the oldest {step.summary.turns} turns</h3>
          <LongText text={step.summary.text} />
        </section>
      )}
      {step.arguments !== null && (
        <section className="stack-tight">
          <h3>{step.answeredBy === null ? 'Changed by a guardrail' : 'Corrected by a person'}</h3>
          <JsonView text={formatJson(step.arguments)} label="corrected arguments" isRepeated />
          <p className="muted">The model wrote:</p>
          <JsonView text={formatJson(step.shownArguments)} label="arguments of the model" isRepeated />
        </section>
      )}
      {step.hidden.length > 0 && <p>Hidden in this step: {shorten(step.hidden.map(describeHidden).join(', '))}</p>}
      {step.guardrails.length > 0 && <Guardrails decisions={step.guardrails} />}
      {step.attachments.length > 0 && (
        <section>
          <h3>Images</h3>
          <ToolImages integration={integration} runId={run.runId} attachments={step.attachments} />
        </section>
      )}
      {step.files.length > 0 && (
        <section>
          <h3>Files</h3>
          <ChangedFiles integration={integration} files={step.files} />
        </section>
      )}
      <section>
        <h3>Details</h3>
        <dl className="definition">
          <dt>Status</dt>
          <dd>
            <Status status={step.status} />
          </dd>
          <dt>Agent</dt>
          <dd>
            <bdi>{shorten(step.agent)}</bdi>
            {step.callerAgent !== null && (
              <>
                , asked by <bdi>{shorten(step.callerAgent)}</bdi>
              </>
            )}
          </dd>
          {step.model !== null && (
            <>
              <dt>Model</dt>
              <dd>
                <code>{shorten(step.model)}</code>
              </dd>
              <dt>First output</dt>
              <dd>{step.firstTokenMs === null ? <Nothing /> : `after ${formatDuration(step.firstTokenMs)}`}</dd>
              <dt>Tokens</dt>
              <dd>
                <UsageText usage={step.usage} />
              </dd>
            </>
          )}
          {step.handoff !== null && (
            <>
              <dt>Hand-off to</dt>
              <dd>
                <bdi>{shorten(step.handoff)}</bdi>
              </dd>
            </>
          )}
          <dt>Started</dt>
          <dd>
            <Time time={new Date(startMs).toISOString()} />
          </dd>
          <dt>Duration</dt>
          <dd>{formatDuration(endMs - startMs)}</dd>
          {step.tries > 1 && (
            <>
              <dt>Tries</dt>
              <dd>{step.tries} requests to models</dd>
            </>
          )}
          {step.answeredBy !== null && (
            <>
              <dt>Answered by</dt>
              <dd>
                <bdi>{shorten(step.answeredBy.name ?? step.answeredBy.id ?? step.answeredBy.kind)}</bdi>,{' '}
                <Time time={step.answeredBy.at} />
              </dd>
            </>
          )}
          {step.continuedBy !== null && (
            <>
              <dt>Continued by</dt>
              <dd>
                <Link to="/integrations/$integration/runs/$run" params={{ integration, run: step.continuedBy }}>
                  the run with the answer
                </Link>
              </dd>
            </>
          )}
          <dt>Attempt</dt>
          <dd>{step.attempt}</dd>
          <dt>Events</dt>
          <dd>
            {step.firstEventId} to {step.lastEventId}
          </dd>
        </dl>
      </section>
    </div>
  );
}

const HIDDEN = { tool: '', handoff: 'hand-off to ', delegate: 'delegation to ' } as const;

const describeHidden = ({ kind, name }: Step['hidden'][number]): string => `${HIDDEN[kind]}${name}`;

function Content({ content: { input, output, reasoning, calls } }: { readonly content: StepContent }) {
  return (
    <>
      {input !== null && (
        <section>
          <h3>Input</h3>
          <JsonView text={input} label="input" />
        </section>
      )}
      {reasoning !== null && (
        <section>
          <h3>Reasoning</h3>
          <LongText text={reasoning} />
        </section>
      )}
      {output !== null && (
        <section>
          <h3>Output</h3>
          <JsonView text={output} label="output" />
        </section>
      )}
      {calls.length > 0 && (
        <section className="stack-tight">
          <h3>Calls</h3>
          {calls.map(({ callId, tool, arguments: given }) => (
            <div key={callId} className="stack-tight">
              <code>
                <bdi>{shorten(tool)}</bdi>
              </code>
              <JsonView text={given} label={`call of ${shorten(tool)}`} isRepeated />
            </div>
          ))}
        </section>
      )}
    </>
  );
}
