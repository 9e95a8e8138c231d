import { operations } from '@runwire/contract/schemas';
import type { FastifyInstance } from 'fastify';
import type { Adjustments } from '../../accounts/adjustments.ts';
import type { ClientTokens } from '../../accounts/client-tokens.ts';
import type { Integrations } from '../../accounts/integrations.ts';
import type { Keys } from '../../accounts/keys.ts';
import type { Members } from '../../accounts/members.ts';
import type { Owners } from '../../accounts/owners.ts';
import type { People } from '../../accounts/people.ts';
import { setUpUrl } from '../../accounts/set-up-links.ts';
import type { Principal } from '../../domain/account/principal.ts';
import { iso } from '../../domain/time.ts';
import type { Erasures } from '../../erasure/erasures.ts';
import { callersBase } from '../callers-base.ts';
import { ownersQuery, route } from '../route.ts';

export interface AccountRoutesDeps {
  readonly integrations: Integrations;
  readonly members: Members;
  readonly erasures: Erasures;
  readonly adjustments: Adjustments;
  readonly clientTokens: ClientTokens;
  readonly keys: Keys;
  readonly owners: Owners;
  readonly people: People;
  /** Scheme, host and path by which callers reach this server. Null: those of each request. */
  readonly publicUrl: string | null;
}

export function accountRoutes(app: FastifyInstance, deps: AccountRoutesDeps): void {
  const { integrations, members, erasures, adjustments, clientTokens, keys, owners, people, publicUrl } = deps;

  route(app, operations.createIntegration, async (request, reply) =>
    reply.code(201).send(await integrations.create(request.principal, request.body, app.audit(request))),
  );

  route(app, operations.listIntegrations, async (request) => integrations.list(request.principal, request.query));

  route(app, operations.getIntegration, async (_request, _reply, { integrationId }) => integrations.get(integrationId));

  route(app, operations.updateIntegration, async (request, _reply, { integrationId }) =>
    integrations.update(integrationId, request.body, app.audit(request)),
  );

  route(app, operations.deleteIntegration, async (request, reply, { integrationId }) => {
    await integrations.delete(integrationId, app.audit(request));
    return reply.code(204).send();
  });

  route(app, operations.putMember, async (request, reply, { integrationId }) => {
    const { consumerId } = request.params;
    const { created, member } = await members.put(integrationId, consumerId, request.body, app.audit(request));
    return reply.code(created ? 201 : 200).send(member);
  });

  route(app, operations.getMember, async (request, _reply, { integrationId }) => {
    const { consumerId } = request.params;
    return members.get(integrationId, consumerId);
  });

  route(app, operations.deleteMember, async (request, reply, { integrationId }) => {
    const { consumerId } = request.params;
    const audit = app.audit(request);
    if (request.query.erase === true)
      return reply.code(202).send(await erasures.erase(integrationId, consumerId, audit));
    await members.delete(integrationId, consumerId, audit);
    return reply.code(204).send();
  });

  route(app, operations.getErasure, async (request, _reply, { integrationId }) => {
    const { consumerId } = request.params;
    return erasures.status(integrationId, consumerId);
  });

  route(app, operations.listMembers, async (request, _reply, { integrationId }) =>
    members.list(integrationId, ownersQuery(request)),
  );

  route(app, operations.createClientToken, async (request, reply, { integrationId }) =>
    reply.code(201).send(await clientTokens.create(request.principal, integrationId, request.body)),
  );

  route(app, operations.createAdjustment, async (request, reply, { integrationId }) => {
    const { consumerId } = request.params;
    const { created, adjustment } = await adjustments.create(
      integrationId,
      consumerId,
      request.body,
      app.audit(request),
    );
    return reply.code(created ? 201 : 200).send(adjustment);
  });

  route(app, operations.listAdjustments, async (request, _reply, { integrationId }) => {
    const { consumerId } = request.params;
    return adjustments.list(integrationId, consumerId, request.query);
  });

  route(app, operations.createApiKey, async (request, reply) =>
    reply.code(201).send(await keys.create(request.principal, request.body, app.audit(request))),
  );

  route(app, operations.listApiKeys, async (request) => keys.list(request.principal, request.query));

  route(app, operations.revokeApiKey, async (request, reply) => {
    await keys.revoke(request.principal, request.params.keyId, app.audit(request));
    return reply.code(204).send();
  });

  route(app, operations.createOwner, async (request, reply) => {
    const base = callersBase(request, publicUrl);
    const { setUpSecret, ...owner } = await owners.create(request.principal, request.body, app.audit(request));
    return reply.code(201).send({ ...owner, setupLink: setUpUrl(base, setUpSecret) });
  });

  route(app, operations.listOwners, async (request) => owners.list(request.principal, request.query));

  route(app, operations.deleteOwner, async (request, reply) => {
    await owners.delete(request.principal, request.params.ownerId, app.audit(request));
    return reply.code(204).send();
  });

  route(app, operations.getMe, async ({ principal }) => meJson(principal));

  route(app, operations.updateMe, async (request) =>
    meJson(await people.updateSelf(request.principal, request.body, app.audit(request))),
  );

  route(app, operations.createPerson, async (request, reply) => {
    const base = callersBase(request, publicUrl);
    const { setUpSecret, ...person } = await people.create(request.principal, request.body, app.audit(request));
    return reply.code(201).send({ ...person, setupLink: setUpUrl(base, setUpSecret) });
  });

  route(app, operations.listPeople, async (request) => people.list(request.principal, request.query));

  route(app, operations.getPerson, async (request) => people.get(request.principal, request.params.personId));

  route(app, operations.updatePerson, async (request) =>
    people.update(request.principal, request.params.personId, request.body, app.audit(request)),
  );

  route(app, operations.deletePerson, async (request, reply) => {
    await people.delete(request.principal, request.params.personId, app.audit(request));
    return reply.code(204).send();
  });
}

function meJson({ ownerId, email, name, administrator, person, role, integrations, key }: Principal) {
  return {
    ownerId,
    email,
    name,
    administrator,
    person: person === null ? null : { ...person, role },
    key: { ...key, expiresAt: iso(key.expiresAt), role, integrations },
  };
}
