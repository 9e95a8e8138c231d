import type { Message } from '@runwire/client';
import { Link } from '@tanstack/react-router';
import { shorten } from '../../lib/shorten.ts';
import { Status } from '../../ui/feedback.tsx';
import { Time } from '../../ui/time.tsx';

interface MessageCallsProps {
  readonly integration: string;
  readonly message: Message;
}

/** The tool calls of an answer, each with its step. */
export function MessageCalls({ integration, message: { calls, runId } }: MessageCallsProps) {
  if (calls.length === 0) return null;
  return (
    <ul className="message-calls" aria-label="Calls">
      {calls.map(({ step, tool, status, agent }) => (
        <li key={step} className="row small">
          <code>
            <bdi>{shorten(tool ?? '')}</bdi>
          </code>
          <bdi className="muted">{shorten(agent)}</bdi>
          <Status status={status} />
          {runId !== null && (
            <Link
              to="/integrations/$integration/runs/$run"
              params={{ integration, run: runId }}
              search={{ step: String(step) }}
            >
              Step {step}
            </Link>
          )}
        </li>
      ))}
    </ul>
  );
}

const DECISIONS = { approved: 'Approved', declined: 'Declined', output: 'Output for' } as const;

/** The answers to questions that a message brought. */
export function MessageAnswers({ message: { answers } }: Pick<MessageCallsProps, 'message'>) {
  if (answers.length === 0) return null;
  return (
    <ul className="message-calls" aria-label="Answers">
      {answers.map(({ questionId, tool, decision, reason, by, at }) => (
        <li key={questionId} className="small">
          {DECISIONS[decision]}{' '}
          <code>
            <bdi>{shorten(tool ?? '')}</bdi>
          </code>{' '}
          by <bdi>{shorten(by.name ?? by.id ?? by.kind)}</bdi>, <Time time={at} />
          {reason !== null && (
            <>
              : <bdi>{shorten(reason, 200)}</bdi>
            </>
          )}
        </li>
      ))}
    </ul>
  );
}
