import { operations } from '@runwire/contract/schemas';
import type { FastifyInstance } from 'fastify';
import { createEndpoint } from '../../webhooks/create-endpoint.ts';
import { deleteEndpoint } from '../../webhooks/delete-endpoint.ts';
import { type EndpointDeps, findEndpoint } from '../../webhooks/endpoint-deps.ts';
import { endpointJson } from '../../webhooks/endpoint-json.ts';
import { getDelivery } from '../../webhooks/get-delivery.ts';
import { listDeliveries } from '../../webhooks/list-deliveries.ts';
import { listEndpoints } from '../../webhooks/list-endpoints.ts';
import { redeliver } from '../../webhooks/redeliver.ts';
import { replayEvents } from '../../webhooks/replay-events.ts';
import { rotateSecret } from '../../webhooks/rotate-secret.ts';
import { sendTest } from '../../webhooks/send-test.ts';
import { updateEndpoint } from '../../webhooks/update-endpoint.ts';
import { route } from '../route.ts';

export function webhookRoutes(app: FastifyInstance, deps: EndpointDeps): void {
  route(app, operations.createWebhook, async (request, reply, { integrationId }) =>
    reply.code(201).send(await createEndpoint(deps, integrationId, request.body, app.audit(request))),
  );

  route(app, operations.listWebhooks, async ({ query }, _reply, { integrationId }) =>
    listEndpoints(deps, integrationId, query),
  );

  route(app, operations.getWebhook, async ({ params }, _reply, { integrationId }) =>
    endpointJson(await findEndpoint(deps.store.reads, integrationId, params.endpointId)),
  );

  route(app, operations.updateWebhook, async (request, _reply, { integrationId }) =>
    updateEndpoint(deps, integrationId, request.params.endpointId, request.body, app.audit(request)),
  );

  route(app, operations.deleteWebhook, async (request, reply, { integrationId }) => {
    await deleteEndpoint(deps, integrationId, request.params.endpointId, app.audit(request));
    return reply.code(204).send();
  });

  route(app, operations.rotateWebhook, async (request, _reply, { integrationId }) =>
    rotateSecret(deps, integrationId, request.params.endpointId, app.audit(request)),
  );

  route(app, operations.testWebhook, async ({ params }, reply, { integrationId }) =>
    reply.code(202).send(await sendTest(deps, integrationId, params.endpointId)),
  );

  route(app, operations.replayWebhook, async (request, reply, { integrationId }) => {
    const { params, body } = request;
    const replay = await replayEvents(deps, integrationId, params.endpointId, body, app.audit(request));
    return reply.code(202).send(replay);
  });

  route(app, operations.listWebhookDeliveries, async ({ params, query }, _reply, { integrationId }) =>
    listDeliveries(deps, integrationId, params.endpointId, query),
  );

  route(app, operations.getWebhookDelivery, async ({ params }, _reply, { integrationId }) =>
    getDelivery(deps, integrationId, params.endpointId, params.deliveryId),
  );

  route(app, operations.redeliverWebhook, async (request, reply, { integrationId }) => {
    const { endpointId, deliveryId } = request.params;
    return reply.code(202).send(await redeliver(deps, integrationId, endpointId, deliveryId, app.audit(request)));
  });
}
