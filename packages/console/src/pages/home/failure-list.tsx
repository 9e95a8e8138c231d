import type { Overview } from '@runwire/client';
import { Link } from '@tanstack/react-router';
import { formatCount } from '../../lib/format.ts';

interface FailureListProps {
  readonly integration: string;
  readonly failures: Overview['failures'];
}

/** The failures of 24 hours by sentence, with the newest run of each. */
export function FailureList({ integration, failures }: FailureListProps) {
  return (
    <ul className="plain-list stack-tight">
      {failures.map(({ code, error, count, runId }) => (
        <li key={`${code} ${error}`}>
          <Link to="/integrations/$integration/runs/$run" params={{ integration, run: runId }}>
            {formatCount(count, 'run')}
          </Link>
          : <bdi className="plain-text">{error}</bdi> <code className="muted">{code}</code>
        </li>
      ))}
    </ul>
  );
}
