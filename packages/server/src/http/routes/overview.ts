import { operations } from '@runwire/contract/schemas';
import type { PageTurns } from '@runwire/lib/page-turns.ts';
import type { FastifyInstance } from 'fastify';
import type { ListedAgency } from '../../agencies/agencies.ts';
import type { IntegrationId } from '../../domain/ids.ts';
import type { RunReads } from '../../runs/read-runs.ts';
import { route } from '../route.ts';

export interface OverviewRoutesDeps {
  readonly runReads: Pick<RunReads, 'overview'>;
  readonly turns: PageTurns;
  readonly agencies: { list(): readonly ListedAgency[] };
  readonly mcpStates: (
    agency: string,
  ) => readonly { readonly server: string; readonly state: string; readonly error: string | null }[];
}

/** Every list has at most so many. */
const MAX_ITEMS = 20;

export function overviewRoutes(app: FastifyInstance, deps: OverviewRoutesDeps): void {
  route(app, operations.getOverview, async ({ query, principal }, _reply, scope) => {
    const { ownerId, role, integrations } = principal;
    const only = scope === undefined ? (integrations as readonly IntegrationId[] | null) : [scope.integrationId];
    const takeTurn = () => deps.turns.take(ownerId);
    const seesKeys = role === 'manager' && integrations === null;
    const { agencies, ...found } = await deps.runReads.overview(takeTurn, {
      ownerId,
      only,
      seesKeys,
      hours: query.hours,
    });
    return { ...found, ...readAgencies(deps, agencies) };
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
