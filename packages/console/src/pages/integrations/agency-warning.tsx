import type { Agency } from '@runwire/client';
import { Link } from '@tanstack/react-router';
import { Badge } from '../../ui/feedback.tsx';

/** What is wrong with an integration's agency. */
interface AgencyProblem {
  readonly state: 'broken' | 'missing';
  readonly title: string;
  /** What happens to requests. */
  readonly effect: string;
}

/** Returns null if the agency can be used as it is, or if it is not known yet. */
function findProblem(agencies: readonly Agency[] | undefined, id: string): AgencyProblem | null {
  if (agencies === undefined) return null;
  const agency = agencies.find((one) => one.agency === id);
  if (agency === undefined) {
    return {
      state: 'missing',
      title: 'This server has no agency with this id.',
      effect: 'Requests to this integration are refused until its folder exists again, or you choose another agency.',
    };
  }
  if (agency.error === null) return null;
  return {
    state: 'broken',
    title: 'The files of the agency cannot be loaded.',
    effect:
      agency.version === null
        ? 'Requests to this integration are refused until the files are fixed.'
        : 'Runs use the last version that could be loaded.',
  };
}

interface AgencyWarningProps {
  readonly agencies: readonly Agency[] | undefined;
  /** The integration's agency. */
  readonly agency: string;
}

/** For a row of the list. */
export function AgencyBadge({ agencies, agency }: AgencyWarningProps) {
  const problem = findProblem(agencies, agency);
  return problem === null ? null : <Badge tone="warn">{problem.state}</Badge>;
}

/** For the integration's page. */
export function AgencyWarning({ agencies, agency }: AgencyWarningProps) {
  const problem = findProblem(agencies, agency);
  if (problem === null) return null;
  return (
    <div className="notice notice-warn" role="status">
      <strong>{problem.title}</strong>
      <p>
        {problem.effect}{' '}
        {problem.state === 'broken' && (
          <Link to="/agencies/$agency" params={{ agency }}>
            Show what is wrong
          </Link>
        )}
      </p>
    </div>
  );
}
