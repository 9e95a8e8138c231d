import type { Agency } from '@runwire/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { agenciesQuery, integrationsQuery } from '../app/queries.ts';
import { pollMs } from '../app/traffic.ts';
import { Badge } from './feedback.tsx';

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

interface AgencyBadgeProps {
  readonly agencies: readonly Agency[] | undefined;
  /** The integration's agency. */
  readonly agency: string;
}

/** For a row of the list. */
export function AgencyBadge({ agencies, agency }: AgencyBadgeProps) {
  const problem = findProblem(agencies, agency);
  return problem === null ? null : <Badge tone="warn">{problem.state}</Badge>;
}

const REFRESH_MS = 20_000;
/** A fix is shown sooner. */
const BROKEN_REFRESH_MS = 5_000;

/** Above every page of an integration. */
export function IntegrationWarning({ integration }: { readonly integration: string }) {
  const { data: integrations } = useQuery(integrationsQuery);
  const agency = integrations?.find(({ apiIntegrationId }) => apiIntegrationId === integration)?.agency;
  const find = (agencies: readonly Agency[] | undefined) =>
    agency === undefined ? null : findProblem(agencies, agency);
  const { data: agencies } = useQuery({
    ...agenciesQuery,
    refetchInterval: ({ state }) =>
      pollMs([agenciesQuery.queryKey], find(state.data) === null ? REFRESH_MS : BROKEN_REFRESH_MS),
  });
  const problem = find(agencies);
  if (agency === undefined || problem === null) return null;
  return (
    <div className="notice notice-warn integration-warning" role="status">
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
