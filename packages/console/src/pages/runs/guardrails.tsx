import type { Step } from '@runwire/client';
import { shorten } from '../../lib/shorten.ts';
import { Badge } from '../../ui/feedback.tsx';

type Decision = Step['guardrails'][number];

const VERDICTS = {
  pass: { label: 'passed', tone: 'neutral' },
  replace: { label: 'replaced', tone: 'warn' },
  ask: { label: 'asked', tone: 'warn' },
  block: { label: 'blocked', tone: 'bad' },
} as const;

const POSITIONS = {
  input: 'the message',
  output: 'the answer',
  toolCall: 'a call',
  toolResult: 'a result',
} as const;

/** What guardrails decided about a step, in the order in which they were asked. */
export function Guardrails({ decisions }: { readonly decisions: readonly Decision[] }) {
  return (
    <section className="stack-tight">
      <h3>Guardrails</h3>
      <ul className="stack-tight">
        {decisions.map(({ name, on, verdict, reason, callId }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the list of a finished step never changes.
          <li key={index}>
            <code>
              <bdi>{shorten(name)}</bdi>
            </code>{' '}
            <Badge tone={VERDICTS[verdict].tone}>{VERDICTS[verdict].label}</Badge> {POSITIONS[on]}
            {callId !== null && (
              <>
                {' '}
                <code>
                  <bdi>{shorten(callId)}</bdi>
                </code>
              </>
            )}
            {reason !== null && (
              <>
                : <bdi>{shorten(reason)}</bdi>
              </>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
