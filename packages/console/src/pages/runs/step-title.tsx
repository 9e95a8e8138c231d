import type { Step } from '@runwire/client';
import { shorten } from '../../lib/shorten.ts';

/** What a step is called in all places. */
export function StepTitle({ kind, tool }: Pick<Step, 'kind' | 'tool'>) {
  if (kind === 'guardrail') return 'Guardrails';
  if (kind === 'summary') return 'Summary';
  if (tool === null) return 'Model';
  return (
    <code>
      <bdi>{shorten(tool)}</bdi>
    </code>
  );
}
