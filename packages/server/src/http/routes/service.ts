import { operations } from '@runwire/contract/schemas';
import type { FastifyInstance } from 'fastify';
import type { Nodes } from '../../accounts/nodes.ts';
import { type Agencies, type LoadedAgency, toolNames } from '../../agencies/agencies.ts';
import { decodeCursor, page } from '../../domain/list-cursor.ts';
import { Refusal } from '../../domain/refusal.ts';
import { DOCS_POLICY, type OpenApiDocument, renderDocs } from '../docs/render-docs.ts';
import { METRICS_TYPE } from '../metrics-listener.ts';
import { route } from '../route.ts';

export interface ServiceRoutesDeps {
  readonly agencies: Agencies;
  /** Rejects, or names what is missing, while the server cannot do its work. */
  readonly isReady: () => Promise<boolean>;
  readonly storeKind: string;
  readonly metrics: () => string;
  readonly nodes: Nodes;
}

export function serviceRoutes(app: FastifyInstance, deps: ServiceRoutesDeps): void {
  const { agencies, isReady, storeKind, metrics, nodes } = deps;

  route(app, operations.listAgencies, async ({ query }) => {
    // They have no time: the one loaded last comes first.
    const listed = agencies.list().toReversed();
    const start = decodeCursor(query.cursor)?.createdAt ?? 0;
    const limit = query.limit ?? 50;
    const rows = listed.map((agency, place) => ({ agency, place })).slice(start, start + limit + 1);
    const at = (row: { place: number }) => ({ createdAt: row.place + 1, id: '' });
    return page(rows, limit, at, ({ agency }) => agencyJson(agency));
  });

  route(app, operations.listNodes, async ({ principal, query }) => nodes.list(principal, query));

  route(app, operations.getRoot, async (_request, reply) => reply.redirect('/docs'));

  route(app, operations.getHealth, async () => ({ status: 'ok' }));

  route(app, operations.getReadiness, async () => {
    const ready = await isReady().catch(() => false);
    if (!ready) throw new Refusal('unavailable', undefined, {}, 1);
    return { status: 'ok', store: storeKind };
  });

  route(app, operations.getMetrics, async (_request, reply) => reply.type(METRICS_TYPE).send(metrics()));

  route(app, operations.getOpenApi, async () => app.describe());

  let docs: string | null = null;
  route(app, operations.getDocs, async (_request, reply) => {
    docs ??= renderDocs((await app.describe()) as unknown as OpenApiDocument);
    return reply
      .type('text/html; charset=utf-8')
      .header('content-security-policy', DOCS_POLICY)
      .header('x-content-type-options', 'nosniff')
      .header('referrer-policy', 'no-referrer')
      .header('cache-control', 'no-cache')
      .send(docs);
  });
}

function agencyJson({ id, definition, agents, entryPoints, defaultAgent }: LoadedAgency) {
  return {
    agency: id,
    name: definition.name,
    defaultAgent,
    entryPoints,
    agents: [...agents.values()].map((agent) => ({
      name: agent.definition.name,
      description: agent.definition.description,
      model: agent.model,
      tools: toolNames(agent),
    })),
    flows: [],
    error: null,
  };
}
