import { useChanges } from '../transcript/changes.ts';
import type { LiveRun } from '../transcript/live-run.ts';

/**
 * Tells screen readers that an answer began and how it ended. Its text is not read out piece by piece. It is always in the
 * document, because many screen readers do not announce the first text of a new element.
 */
export function Announcer({ live }: { readonly live: LiveRun | null }) {
  useChanges(live?.changes);
  return (
    <p className="visually-hidden" role="status">
      {live !== null && toText(live)}
    </p>
  );
}

function toText({ isActive, isNew, result }: LiveRun): string {
  if (isActive) return 'The agent is answering.';
  if (result === null) return 'The message was not answered.';
  if (result.pending.length > 0) return 'The agent asks a question.';
  if (result.status !== 'completed') return `The run ended as ${result.status}.`;
  return isNew ? 'The answer is complete.' : '';
}
