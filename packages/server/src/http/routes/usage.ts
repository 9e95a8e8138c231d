import { Readable } from 'node:stream';
import { operations } from '@runwire/contract/schemas';
import type { PageTurns, TakeTurn } from '@runwire/lib/page-turns.ts';
import type { FastifyInstance } from 'fastify';
import type { Principal } from '../../domain/account/principal.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { RunReads } from '../../runs/read-runs.ts';
import { usageCsv } from '../../runs/usage-csv.ts';
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
    if (query.limit !== undefined || query.cursor !== undefined) {
      throw new Refusal(
        'invalid_request',
        '`format=csv` returns all records in one answer; leave out `limit` and `cursor`.',
      );
    }
    const pages = usageCsv(runReads, turnsFor(request.principal), integrationId, query);
    // The first page is read before the head is sent, so that an unreadable store is still an error status.
    const first = await pages.next();
    const text = Readable.from(prepend(first.value ?? '', pages), { objectMode: false, highWaterMark: 64 * 1024 });
    return reply
      .type('text/csv; charset=utf-8; header=present')
      .header('content-disposition', `attachment; filename="usage-${integrationId}.csv"`)
      .send(text);
  });

  route(app, operations.summariseUsage, async (request, _reply, { integrationId }) =>
    runReads.usageSummary(turnsFor(request.principal), integrationId, request.query),
  );

  route(app, operations.summariseLatency, async (request, _reply, { integrationId }) =>
    runReads.latency(turnsFor(request.principal), integrationId, request.query),
  );
}

async function* prepend(first: string, rest: AsyncGenerator<string>): AsyncGenerator<string> {
  yield first;
  yield* rest;
}
