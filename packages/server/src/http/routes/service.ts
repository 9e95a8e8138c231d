import { operations } from '@runwire/contract/schemas';
import type { FastifyInstance } from 'fastify';
import type { Agencies } from '../../agencies/agencies.ts';
import { Refusal } from '../../domain/refusal.ts';
import { route } from '../route.ts';

export interface ServiceRoutesDeps {
  readonly agencies: Agencies;
  /** Rejects, or names what is missing, while the server cannot do its work. */
  readonly isReady: () => Promise<boolean>;
  readonly storeKind: string;
}

export function serviceRoutes(app: FastifyInstance, deps: ServiceRoutesDeps): void {
  const { agencies, isReady, storeKind } = deps;

  route(app, operations.listAgencies, async () => ({
    items: agencies
      .list()
      .toReversed()
      .map(({ id, definition, agents, entryPoints, defaultAgent }) => ({
        agency: id,
        name: definition.name,
        defaultAgent,
        entryPoints,
        agents: [...agents.values()].map(({ definition: agent, model }) => ({
          name: agent.name,
          description: agent.description,
          model,
          tools: (agent.tools ?? []).map((tool) => tool.name),
        })),
        flows: [],
        error: null,
      })),
    nextCursor: null,
  }));

  route(app, operations.createAgencyUpload, async () => {
    throw new Refusal('invalid_request', 'Uploads are not supported by this version of Runwire.');
  });

  route(app, operations.getHealth, async () => ({ status: 'ok' }));

  route(app, operations.getReadiness, async () => {
    const ready = await isReady().catch(() => false);
    if (!ready) throw new Refusal('unavailable', undefined, {}, 1);
    return { status: 'ok', store: storeKind };
  });

  route(app, operations.getOpenApi, async () => app.swagger());
}
