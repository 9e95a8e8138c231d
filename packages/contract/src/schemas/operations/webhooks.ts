import { oneOfStrings, ref, text, time } from '../kit.ts';
import {
  bodyRefusals,
  integrationParams,
  integrationPath,
  integrationRefusals,
  operation,
  pageQuery,
  refusals,
} from '../operation.ts';
import { Type } from '../type.ts';
import {
  CreateWebhookRequest,
  ReplayWebhookRequest,
  UpdateWebhookRequest,
  WebhookDelivery,
  WebhookDeliveryList,
  WebhookDeliveryWithBody,
  WebhookEndpoint,
  WebhookEndpointList,
  WebhookEndpointWithSecret,
  WebhookReplay,
  webhookEventTypes,
} from '../webhook.ts';
import { integrationExample, json, page, webhookDelivery, webhookEndpoint } from './examples.ts';

const endpointPath = `${integrationPath}/webhooks/:endpointId`;
const deliveryPath = `${endpointPath}/deliveries/:deliveryId`;
const endpointParams = Type.Object({ ...integrationParams, endpointId: text("The endpoint's identifier.") });
const deliveryParams = Type.Object({
  ...integrationParams,
  endpointId: text("The endpoint's identifier."),
  deliveryId: text("The delivery's identifier."),
});
const endpointExample = { ...integrationExample, endpointId: 'whe_1' };
const deliveryExample = { ...endpointExample, deliveryId: 'whd_1' };
const withSecret = { ...webhookEndpoint, secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD' };

export const createWebhook = operation({
  operationId: 'createWebhook',
  method: 'POST',
  path: `${integrationPath}/webhooks`,
  summary: 'Add a webhook endpoint',
  description:
    'Events are posted as Standard Webhooks. The answer contains the secret that signs them, once. An endpoint gets ' +
    'everything that happens 5 seconds after the answer or later.',
  tags: ['Webhooks'],
  auth: true,
  returnsSecret: true,
  params: Type.Object(integrationParams),
  body: ref(CreateWebhookRequest),
  example: {
    params: integrationExample,
    body: { url: 'https://example.com/hook', events: ['run.completed'] },
    status: 201,
    answer: json(withSecret),
  },
  responses: {
    201: { description: 'The endpoint, with its secret.', schema: ref(WebhookEndpointWithSecret) },
    ...integrationRefusals(),
    ...bodyRefusals(),
    ...refusals(409),
  },
});

export const listWebhooks = operation({
  operationId: 'listWebhooks',
  method: 'GET',
  path: `${integrationPath}/webhooks`,
  summary: "List an integration's webhook endpoints, newest first",
  tags: ['Webhooks'],
  auth: true,
  params: Type.Object(integrationParams),
  query: Type.Object(pageQuery),
  example: { params: integrationExample, query: { limit: 50 }, status: 200, answer: page(webhookEndpoint) },
  responses: {
    200: { description: 'A page with endpoints.', schema: ref(WebhookEndpointList) },
    ...integrationRefusals(),
  },
});

export const getWebhook = operation({
  operationId: 'getWebhook',
  method: 'GET',
  path: endpointPath,
  summary: 'Read a webhook endpoint',
  tags: ['Webhooks'],
  auth: true,
  params: endpointParams,
  example: { params: endpointExample, status: 200, answer: json(webhookEndpoint) },
  responses: { 200: { description: 'The endpoint.', schema: ref(WebhookEndpoint) }, ...integrationRefusals() },
});

export const updateWebhook = operation({
  operationId: 'updateWebhook',
  method: 'PATCH',
  path: endpointPath,
  summary: 'Change, pause or resume a webhook endpoint',
  description: 'Fields that the request omits keep their values.',
  tags: ['Webhooks'],
  auth: true,
  params: endpointParams,
  body: ref(UpdateWebhookRequest),
  example: {
    params: endpointExample,
    body: { active: true },
    status: 200,
    answer: json(webhookEndpoint),
  },
  responses: {
    200: { description: 'The endpoint.', schema: ref(WebhookEndpoint) },
    ...integrationRefusals(),
    ...bodyRefusals(),
  },
});

export const deleteWebhook = operation({
  operationId: 'deleteWebhook',
  method: 'DELETE',
  path: endpointPath,
  summary: 'Delete a webhook endpoint with its deliveries',
  tags: ['Webhooks'],
  auth: true,
  params: endpointParams,
  example: { params: endpointExample, status: 204 },
  responses: { 204: { description: 'The endpoint was deleted.' }, ...integrationRefusals() },
});

export const rotateWebhook = operation({
  operationId: 'rotateWebhook',
  method: 'POST',
  path: `${endpointPath}/rotate`,
  summary: 'Make a new secret for a webhook endpoint',
  description: 'The new secret and the one before both sign for 24 hours.',
  tags: ['Webhooks'],
  auth: true,
  returnsSecret: true,
  params: endpointParams,
  example: { params: endpointExample, status: 200, answer: json(withSecret) },
  responses: {
    200: { description: 'The endpoint, with its new secret.', schema: ref(WebhookEndpointWithSecret) },
    ...integrationRefusals(),
  },
});

export const testWebhook = operation({
  operationId: 'testWebhook',
  method: 'POST',
  path: `${endpointPath}/test`,
  summary: 'Send a `webhook.test` to an endpoint',
  tags: ['Webhooks'],
  auth: true,
  params: endpointParams,
  example: {
    params: endpointExample,
    status: 202,
    answer: json({
      ...webhookDelivery,
      type: 'webhook.test',
      runId: null,
      status: 'pending',
      attempts: 0,
      nextAttemptAt: webhookDelivery.createdAt,
      lastStatus: null,
      deliveredAt: null,
    }),
  },
  responses: { 202: { description: 'The delivery.', schema: ref(WebhookDelivery) }, ...integrationRefusals() },
});

export const replayWebhook = operation({
  operationId: 'replayWebhook',
  method: 'POST',
  path: `${endpointPath}/replay`,
  summary: 'Send stored events once more',
  description: "Makes new deliveries for a period's stored events, with their `webhook-id`; at most 10 000.",
  tags: ['Webhooks'],
  auth: true,
  params: endpointParams,
  body: ref(ReplayWebhookRequest),
  example: {
    params: endpointExample,
    body: { from: '2030-01-01T00:00:00.000Z', to: '2030-01-02T00:00:00.000Z' },
    status: 202,
    answer: json({ deliveries: 12 }),
  },
  responses: {
    202: { description: 'The deliveries were made.', schema: ref(WebhookReplay) },
    ...integrationRefusals(),
    ...bodyRefusals(),
  },
});

export const listWebhookDeliveries = operation({
  operationId: 'listWebhookDeliveries',
  method: 'GET',
  path: `${endpointPath}/deliveries`,
  summary: "List a webhook endpoint's deliveries, newest first",
  tags: ['Webhooks'],
  auth: true,
  params: endpointParams,
  query: Type.Object({
    status: Type.Optional(
      oneOfStrings(['pending', 'delivered', 'failed', 'skipped'], { description: 'Only deliveries with this status.' }),
    ),
    type: Type.Optional(oneOfStrings(webhookEventTypes, { description: 'Only deliveries with this type.' })),
    from: Type.Optional(time('Only deliveries that were made at this time or later.')),
    to: Type.Optional(time('Only deliveries that were made before this time.')),
    ...pageQuery,
  }),
  example: {
    params: endpointExample,
    query: { status: 'delivered', limit: 50 },
    status: 200,
    answer: page(webhookDelivery),
  },
  responses: {
    200: { description: 'A page with deliveries.', schema: ref(WebhookDeliveryList) },
    ...integrationRefusals(),
  },
});

export const getWebhookDelivery = operation({
  operationId: 'getWebhookDelivery',
  method: 'GET',
  path: deliveryPath,
  summary: 'Read a delivery with its body and the last answer',
  tags: ['Webhooks'],
  auth: true,
  params: deliveryParams,
  example: {
    params: deliveryExample,
    status: 200,
    answer: json({ ...webhookDelivery, body: '{"type":"run.completed",…}', answer: 'ok' }),
  },
  responses: { 200: { description: 'The delivery.', schema: ref(WebhookDeliveryWithBody) }, ...integrationRefusals() },
});

export const redeliverWebhook = operation({
  operationId: 'redeliverWebhook',
  method: 'POST',
  path: `${deliveryPath}/redeliver`,
  summary: "Send a delivery's event once more",
  description: 'Makes a new delivery for the same event, with its `webhook-id`.',
  tags: ['Webhooks'],
  auth: true,
  params: deliveryParams,
  example: {
    params: deliveryExample,
    status: 202,
    answer: json({
      ...webhookDelivery,
      deliveryId: 'whd_2',
      status: 'pending',
      attempts: 0,
      nextAttemptAt: webhookDelivery.createdAt,
      lastStatus: null,
      deliveredAt: null,
    }),
  },
  responses: { 202: { description: 'The new delivery.', schema: ref(WebhookDelivery) }, ...integrationRefusals() },
});
