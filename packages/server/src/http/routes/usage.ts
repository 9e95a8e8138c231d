import { operations } from '@runwire/contract/schemas';
import type { PageTurns, TakeTurn } from '@runwire/lib/page-turns.ts';
import type { FastifyInstance } from 'fastify';
import type { Principal } from '../../domain/account/principal.ts';
import type { RunReads } from '../../runs/read-runs.ts';
import { usageCsv } from '../../runs/usage-csv.ts';
import { refusePaging, sendCsv } from '../csv-answer.ts';
import { route } from '../route.ts';

export interface UsageRoutesDeps {
  readonly runReads: RunReads;
  readonly turns: PageTurns;
}

export function usageRoutes(app: FastifyInstance, { runReads, turns }: UsageRoutesDeps): void {
  const turnsFor =
    ({ ownerId }: Principal): TakeTurn =>
    () =>
      turns.take(ownerId);

  route(app, operations.listUsage, async (request, reply, { integrationId }) => {
    const { format, ...query } = request.query;
    if (format !== 'csv') return runReads.usage(turnsFor(request.principal), integrationId, query);
    refusePaging(query);
    const pages = usageCsv(runReads, turnsFor(request.principal), integrationId, query);
    return sendCsv(reply, `usage-${integrationId}`, pages);
  });

  route(app, operations.summariseUsage, async (request, _reply, { integrationId }) =>
    runReads.usageSummary(turnsFor(request.principal), integrationId, request.query),
  );

  route(app, operations.summariseLatency, async (request, _reply, { integrationId }) =>
    runReads.latency(turnsFor(request.principal), integrationId, request.query),
  );
}
