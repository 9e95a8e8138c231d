import { queryOptions } from '@tanstack/react-query';
import { api } from '../../app/api.ts';

/** What an agent was instructed to do in one of its last runs. */
interface AgentInstructions {
  readonly runId: string;
  readonly agencyVersion: string | null;
  /** Null if a function of the agency made them, or if they are not known. */
  readonly instructions: string | null;
}

/** How many of the newest runs are looked at: the chats of some may be deleted. */
const MAX_RUNS = 10;
/** The first steps of a run are at the end of this list, unless the run has more. */
const MAX_STEPS = 200;

/** The list of agencies has no instructions, but the prompts of runs have. Null if no run is found. */
async function findInstructions(
  apiIntegrationId: string,
  agent: string,
  signal: AbortSignal,
): Promise<AgentInstructions | null> {
  const filter = { apiIntegrationId, agent, texts: false, limit: MAX_RUNS };
  const { items: runs } = await api().runs.list(filter, { signal }).page();
  const run = runs.find(({ chatDeleted, completedAt }) => !chatDeleted && completedAt !== null);
  if (run === undefined) return null;
  const { runId } = run;
  const { items: steps } = await api().runs.steps({ apiIntegrationId, runId, limit: MAX_STEPS }, { signal }).page();
  const step = steps.findLast((one) => one.kind === 'model' && one.agent === agent);
  if (step === undefined) return null;
  const prompt = await api().runs.prompt({ apiIntegrationId, runId, step: step.step }, { signal });
  return { runId, agencyVersion: prompt.agencyVersion, instructions: prompt.instructions };
}

interface WantedInstructions {
  readonly integration: string;
  readonly agent: string | undefined;
  /** The agency's version. Another one may have other instructions. */
  readonly version: string | null;
  /** The last run of the chat that has ended. */
  readonly lastRunId: string | null;
}

export const instructionsQuery = ({ integration, agent, version, lastRunId }: WantedInstructions) =>
  queryOptions({
    queryKey: ['instructions', integration, agent, version, lastRunId],
    queryFn: ({ signal }) => findInstructions(integration, agent ?? '', signal),
    enabled: agent !== undefined,
    placeholderData: (before, query) => (query?.queryKey[2] === agent ? before : undefined),
    staleTime: 60_000,
  });
