import { operations } from '@runwire/contract/schemas';
import type { PageTurns } from '@runwire/lib/page-turns.ts';
import type { FastifyInstance } from 'fastify';
import type { ListedAgency } from '../../agencies/agencies.ts';
import type { IntegrationId } from '../../domain/ids.ts';
import type { RunReads } from '../../runs/read-runs.ts';
import { integrationsOfOwner } from '../../store/queries/overview.ts';
import type { Reads } from '../../store/store.ts';
import { route } from '../route.ts';

export interface OverviewRoutesDeps {
  readonly reads: Reads;
  readonly runReads: Pick<RunReads, 'overview'>;
  readonly turns: PageTurns;
  readonly agencies: { list(): readonly ListedAgency[] };
  readonly mcpStates: (
    agency: string,
  ) => readonly { readonly server: string; readonly state: string; readonly error: string | null }[];
}

/** The length of every list. */
const MAX_ITEMS = 20;

export function overviewRoutes(app: FastifyInstance, deps: OverviewRoutesDeps): void {
  route(app, operations.getOverview, async (request) => {
    const { integration, hours } = request.query;
    const { ownerId } = request.principal;
    const only = integration === undefined ? null : (await app.ownership.scope(request, integration)).integrationId;
    const owned = await deps.reads.all(integrationsOfOwner, { ownerId });
    const shown = owned.filter((row) => only === null || row.integration_id === only);
    const integrationIds: IntegrationId[] = shown.map((row) => row.integration_id);
    const found = await deps.runReads.overview(() => deps.turns.take(ownerId), {
      ...{ ownerId, integrationIds, isWhole: only === null, hours },
    });
    return { ...found, ...readAgencies(deps, new Set(shown.map(({ agency }) => agency))) };
  });
}

/** What is wrong with these agencies, as this node sees it. */
function readAgencies({ agencies, mcpStates }: OverviewRoutesDeps, used: ReadonlySet<string>) {
  const broken = agencies.list().filter(({ id, error }) => error !== null && used.has(id));
  const failed = [...used].flatMap((agency) =>
    mcpStates(agency)
      .filter(({ state }) => state === 'failed')
      .map(({ server, error }) => ({ agency, server, error })),
  );
  return {
    brokenAgencies: broken.slice(0, MAX_ITEMS).map(({ id, error }) => ({ agency: id, error: error?.message ?? '' })),
    failedMcpServers: failed.slice(0, MAX_ITEMS),
  };
}
