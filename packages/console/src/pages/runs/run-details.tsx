import type { RunRecord, Step } from '@runwire/client';
import { Link } from '@tanstack/react-router';
import { formatDuration, formatJson } from '../../lib/format.ts';
import { shorten } from '../../lib/shorten.ts';
import { Charge } from '../../ui/charge.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { JsonView } from '../../ui/json-view.tsx';
import { LongText } from '../../ui/long-text.tsx';
import { Markdown } from '../../ui/markdown.tsx';
import { MemberName } from '../../ui/member-name.tsx';
import { Nothing } from '../../ui/nothing.tsx';
import { PendingQuestions } from '../../ui/pending-questions.tsx';
import { RunError } from '../../ui/run-error.tsx';
import { Time } from '../../ui/time.tsx';
import { PlaygroundLink } from '../chats/playground-link.tsx';
import { ChangedFiles } from './changed-files.tsx';
import type { EventLog, LogState } from './event-log.ts';
import { LiveOutput } from './live-output.tsx';
import { Reruns } from './reruns.tsx';
import { RunInput } from './run-input.tsx';
import { getDuration, isActive } from './run-state.ts';
import { UsageText } from './usage-text.tsx';

interface RunDetailsProps {
  readonly run: RunRecord;
  readonly steps: readonly Step[];
  readonly log: EventLog;
  readonly logState: LogState;
}

/** The whole run: what was asked, what was answered, and what it used. */
export function RunDetails({ run, steps, log, logState }: RunDetailsProps) {
  const { apiIntegrationId: integration, chatId, consumerId, pending, continues, continuedBy, rerunOf } = run;
  const files = steps.flatMap((step) => step.files);
  return (
    <div className="stack">
      <h2 className="visually-hidden">Whole run</h2>
      {run.error !== null && <RunError error={run.error} />}
      {pending.length > 0 && (
        <PendingQuestions questions={pending} action={<PlaygroundLink chat={run} label="Answer in the playground" />} />
      )}
      {run.chatDeleted ? (
        <div className="notice">
          <strong>The chat of this run was deleted.</strong>
          <p>Its messages, steps and events do not exist any more. The run and its usage are kept.</p>
        </div>
      ) : (
        <>
          <section>
            <h3>Input</h3>
            <RunInput run={run} />
          </section>
          <section>
            <h3>Output</h3>
            {isActive(run) ? <LiveOutput run={run} log={log} logState={logState} /> : <RunOutput run={run} />}
          </section>
        </>
      )}
      {files.length > 0 && (
        <section>
          <h3>Files</h3>
          <ChangedFiles integration={integration} files={files} />
        </section>
      )}
      {!isActive(run) && <Reruns run={run} />}
      <section>
        <h3>Details</h3>
        <dl className="definition">
          <dt>Run id</dt>
          <dd className="row">
            <code>{run.runId}</code> <CopyButton text={run.runId} label="Copy run id" />
          </dd>
          {rerunOf !== null && (
            <>
              <dt>Rerun of</dt>
              <dd>
                <Link
                  to="/integrations/$integration/runs/$run"
                  params={{ integration, run: rerunOf.runId }}
                  search={rerunOf.afterStep === 0 ? {} : { step: String(rerunOf.afterStep) }}
                >
                  {rerunOf.afterStep === 0 ? 'the original run' : `step ${rerunOf.afterStep} of the original run`}
                </Link>
              </dd>
            </>
          )}
          <dt>Chat</dt>
          <dd>
            {run.chatDeleted ? (
              <bdi>{shorten(chatId)}</bdi>
            ) : (
              <Link to="/integrations/$integration/chats/$chat" params={{ integration, chat: chatId }}>
                <bdi>{shorten(chatId)}</bdi>
              </Link>
            )}
          </dd>
          <dt>Member</dt>
          <dd>
            {consumerId === null ? (
              <Nothing />
            ) : (
              <Link to="/integrations/$integration/members/$member" params={{ integration, member: consumerId }}>
                <MemberName integration={integration} consumerId={consumerId} />
              </Link>
            )}
          </dd>
          <dt>Admitted</dt>
          <dd>
            <Time time={run.createdAt} />
          </dd>
          <dt>Duration</dt>
          <dd>
            {formatDuration(getDuration(run))}
            {isActive(run) && ' so far'}
          </dd>
          <dt>First output</dt>
          <dd>{run.firstTokenMs === null ? <Nothing /> : `after ${formatDuration(run.firstTokenMs)}`}</dd>
          <dt>Tokens</dt>
          <dd>
            <UsageText usage={run.usage} />
          </dd>
          <dt>Charge</dt>
          <dd>
            <Charge run={run} />
          </dd>
          <dt>Attempts</dt>
          <dd>{run.attempt === 1 ? '1' : `${run.attempt}: the run was resumed after a stop of the server`}</dd>
          <dt>Agency version</dt>
          <dd>{run.agencyVersion === null ? 'not known' : <code>{run.agencyVersion}</code>}</dd>
          <dt>Usage request id</dt>
          <dd>{run.usageRequestId === null ? <Nothing /> : <bdi>{shorten(run.usageRequestId)}</bdi>}</dd>
          {continuedBy !== null && (
            <>
              <dt>Continued by</dt>
              <dd>
                <Link to="/integrations/$integration/runs/$run" params={{ integration, run: continuedBy }}>
                  the next run of the chat
                </Link>
              </dd>
            </>
          )}
          {continues !== null && (
            <>
              <dt>Continues</dt>
              <dd>
                <Link to="/integrations/$integration/runs/$run" params={{ integration, run: continues }}>
                  the run that asked
                </Link>
              </dd>
            </>
          )}
        </dl>
      </section>
    </div>
  );
}

/** What follows a text must not be far below it. */
const MAX_SHOWN = 4000;

function RunOutput({ run: { output, message, pending } }: { readonly run: RunRecord }) {
  if (output !== null && output !== undefined) return <JsonView text={formatJson(output)} label="output" />;
  if (message !== null && message !== '')
    return (
      <LongText text={message} maxShown={MAX_SHOWN}>
        {(shown) => <Markdown text={shown} />}
      </LongText>
    );
  if (pending.length > 0)
    return <p className="muted">The run ended with a question. Its answer starts the next run.</p>;
  return <p className="muted">The run ended without text.</p>;
}
