import { freeObject, ref } from '../kit.ts';
import { headOf, operation, pageQuery, refusals } from '../operation.ts';
import { Health, Readiness, ServiceNodeList } from '../service.ts';
import { Type } from '../type.ts';

export const getRoot = operation({
  operationId: 'getRoot',
  method: 'GET',
  path: '/',
  summary: 'Redirect to this description as a page',
  tags: ['Service'],
  auth: false,
  responses: {
    302: { description: 'The page is at `/docs`.', headers: { Location: Type.String({ description: '`/docs`.' }) } },
  },
});

export const getHealth = operation({
  operationId: 'getHealth',
  method: 'GET',
  path: '/healthz',
  summary: 'Ask whether the process is alive',
  tags: ['Service'],
  auth: false,
  responses: { 200: { description: 'It is.', schema: ref(Health) } },
});

export const getReadiness = operation({
  operationId: 'getReadiness',
  method: 'GET',
  path: '/readyz',
  summary: 'Ask whether the node takes requests',
  tags: ['Service'],
  auth: false,
  responses: { 200: { description: 'It does.', schema: ref(Readiness) }, ...refusals(503) },
});

export const getMetrics = operation({
  operationId: 'getMetrics',
  method: 'GET',
  path: '/metrics',
  summary: 'Read the metrics of this node',
  description: 'In the text format that Prometheus reads. Needs a key, of whatever owner.',
  tags: ['Service'],
  auth: true,
  responses: {
    200: { description: 'The metrics.', schema: Type.String(), contentTypes: ['text/plain'] },
    ...refusals(401, 500, 503),
  },
});

export const listNodes = operation({
  operationId: 'listNodes',
  method: 'GET',
  path: '/v2/nodes',
  summary: 'List the nodes of this installation, newest first (administrator)',
  description:
    'A server that stops, and one that the others took for dead, stays listed for a day, and until its runs have gone on elsewhere. The embedded store has one node: the one that answers.',
  tags: ['Service'],
  auth: true,
  query: Type.Object(pageQuery),
  responses: {
    200: { description: 'A page of nodes.', schema: ref(ServiceNodeList) },
    ...refusals(400, 401, 403, 500, 503),
  },
});

export const getOpenApi = operation({
  operationId: 'getOpenApi',
  method: 'GET',
  path: '/openapi.json',
  summary: 'Read this description',
  tags: ['Service'],
  auth: false,
  responses: { 200: { description: 'The OpenAPI document.', schema: freeObject() } },
});

export const getDocs = operation({
  operationId: 'getDocs',
  method: 'GET',
  path: '/docs',
  summary: 'Read this description as a page',
  tags: ['Service'],
  auth: false,
  responses: { 200: { description: 'The page.', schema: Type.String(), contentTypes: ['text/html'] } },
});

export const headHealth = headOf(getHealth, 'headHealth');
export const headReadiness = headOf(getReadiness, 'headReadiness');
export const headOpenApi = headOf(getOpenApi, 'headOpenApi');
export const headDocs = headOf(getDocs, 'headDocs');
