import { operations } from '@runwire/contract/schemas';
import type { FastifyInstance } from 'fastify';
import type { Adjustments } from '../../accounts/adjustments.ts';
import type { ClientTokens } from '../../accounts/client-tokens.ts';
import type { Integrations } from '../../accounts/integrations.ts';
import type { Keys } from '../../accounts/keys.ts';
import type { Members } from '../../accounts/members.ts';
import type { IntegrationOwnership } from '../../accounts/owned-integration.ts';
import type { Owners } from '../../accounts/owners.ts';
import { setUpUrl } from '../../accounts/set-up-links.ts';
import type { Principal } from '../../domain/principal.ts';
import { iso } from '../../domain/time.ts';
import type { Erasures } from '../../erasure/erasures.ts';
import { callersBase } from '../callers-base.ts';
import { ownersQuery, route } from '../route.ts';

export interface AccountRoutesDeps {
  readonly ownership: IntegrationOwnership;
  readonly integrations: Integrations;
  readonly members: Members;
  readonly erasures: Erasures;
  readonly adjustments: Adjustments;
  readonly clientTokens: ClientTokens;
  readonly keys: Keys;
  readonly owners: Owners;
  /** Scheme, host and path by which callers reach this server. Null: those of each request. */
  readonly publicUrl: string | null;
}

export function accountRoutes(app: FastifyInstance, deps: AccountRoutesDeps): void {
  const { ownership, integrations, members, erasures, adjustments, clientTokens, keys, owners, publicUrl } = deps;

  route(app, operations.createIntegration, async (request, reply) =>
    reply.code(201).send(await integrations.create(request.principal, request.body)),
  );

  route(app, operations.listIntegrations, async (request) => integrations.list(request.principal, request.query));

  route(app, operations.getIntegration, async (request) => {
    const { apiIntegrationId } = request.params;
    await ownership.check(request.principal, apiIntegrationId);
    return integrations.get(apiIntegrationId);
  });

  route(app, operations.updateIntegration, async (request) => {
    const { apiIntegrationId } = request.params;
    await ownership.check(request.principal, apiIntegrationId);
    return integrations.update(apiIntegrationId, request.body);
  });

  route(app, operations.deleteIntegration, async (request, reply) => {
    const { apiIntegrationId } = request.params;
    await ownership.check(request.principal, apiIntegrationId);
    await integrations.delete(apiIntegrationId);
    return reply.code(204).send();
  });

  route(app, operations.putMember, async (request, reply) => {
    const { apiIntegrationId, consumerId } = request.params;
    await ownership.check(request.principal, apiIntegrationId);
    const { created, member } = await members.put(apiIntegrationId, consumerId, request.body);
    return reply.code(created ? 201 : 200).send(member);
  });

  route(app, operations.getMember, async (request) => {
    const { apiIntegrationId, consumerId } = request.params;
    await ownership.check(request.principal, apiIntegrationId);
    return members.get(apiIntegrationId, consumerId);
  });

  route(app, operations.deleteMember, async (request, reply) => {
    const { apiIntegrationId, consumerId } = request.params;
    await ownership.check(request.principal, apiIntegrationId);
    if (request.query.erase === true) return reply.code(202).send(await erasures.erase(apiIntegrationId, consumerId));
    await members.delete(apiIntegrationId, consumerId);
    return reply.code(204).send();
  });

  route(app, operations.getErasure, async (request) => {
    const { apiIntegrationId, consumerId } = request.params;
    await ownership.check(request.principal, apiIntegrationId);
    return erasures.status(apiIntegrationId, consumerId);
  });

  route(app, operations.listMembers, async (request) => {
    const { apiIntegrationId } = request.params;
    await ownership.check(request.principal, apiIntegrationId);
    return members.list(apiIntegrationId, ownersQuery(request));
  });

  route(app, operations.createClientToken, async (request, reply) => {
    const { apiIntegrationId } = request.params;
    await ownership.check(request.principal, apiIntegrationId);
    return reply.code(201).send(await clientTokens.create(request.principal, apiIntegrationId, request.body));
  });

  route(app, operations.createAdjustment, async (request, reply) => {
    const { apiIntegrationId, consumerId } = request.params;
    await ownership.check(request.principal, apiIntegrationId);
    const { created, adjustment } = await adjustments.create(apiIntegrationId, consumerId, request.body);
    return reply.code(created ? 201 : 200).send(adjustment);
  });

  route(app, operations.listAdjustments, async (request) => {
    const { apiIntegrationId, consumerId } = request.params;
    await ownership.check(request.principal, apiIntegrationId);
    return adjustments.list(apiIntegrationId, consumerId, request.query);
  });

  route(app, operations.createApiKey, async (request, reply) =>
    reply.code(201).send(await keys.create(request.principal, request.body)),
  );

  route(app, operations.listApiKeys, async (request) => keys.list(request.principal, request.query));

  route(app, operations.revokeApiKey, async (request, reply) => {
    await keys.revoke(request.principal, request.params.keyId);
    return reply.code(204).send();
  });

  route(app, operations.createOwner, async (request, reply) => {
    const base = callersBase(request, publicUrl);
    const { setUpSecret, ...owner } = await owners.create(request.principal, request.body);
    return reply.code(201).send({ ...owner, setupLink: setUpUrl(base, setUpSecret) });
  });

  route(app, operations.listOwners, async (request) => owners.list(request.principal, request.query));

  route(app, operations.deleteOwner, async (request, reply) => {
    await owners.delete(request.principal, request.params.ownerId);
    return reply.code(204).send();
  });

  route(app, operations.getMe, async ({ principal }) => meJson(principal));

  route(app, operations.updateMe, async ({ principal, body }) =>
    meJson({ ...principal, ...(await owners.update(principal, body)) }),
  );
}

function meJson({ ownerId, email, name, administrator, key }: Principal) {
  return { ownerId, email, name, administrator, key: { ...key, expiresAt: iso(key.expiresAt) } };
}
