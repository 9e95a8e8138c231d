import { freeObject, ref, text } from '../kit.ts';
import { operation, pageQuery, refusals, toHead } from '../operation.ts';
import { Health, Readiness, ServiceNodeList } from '../service.ts';
import { Type } from '../type.ts';
import { json, node, page } from './examples.ts';

export const getRoot = operation({
  operationId: 'getRoot',
  method: 'GET',
  path: '/',
  summary: 'Redirect to the console',
  tags: ['Service'],
  auth: false,
  example: { status: 302 },
  responses: {
    302: {
      description: 'The console is at `/console/`. The API reference is at `/docs`.',
      headers: { Location: text('`/console/`, after the path of `RUNWIRE_PUBLIC_URL`.') },
    },
  },
});

export const getHealth = operation({
  operationId: 'getHealth',
  method: 'GET',
  path: '/healthz',
  summary: 'Check if the process is alive',
  tags: ['Service'],
  auth: false,
  example: { status: 200, answer: json({ status: 'ok' }) },
  responses: { 200: { description: 'The process is alive.', schema: ref(Health) } },
});

export const getReadiness = operation({
  operationId: 'getReadiness',
  method: 'GET',
  path: '/readyz',
  summary: 'Check if the node accepts requests',
  tags: ['Service'],
  auth: false,
  example: {
    status: 200,
    answer: json({
      status: 'ok',
      store: 'sqlite',
      sandbox: { kind: 'bubblewrap', proc: true, memory: 'watch' },
    }),
  },
  responses: { 200: { description: 'The node accepts requests.', schema: ref(Readiness) }, ...refusals(503) },
});

export const getMetrics = operation({
  operationId: 'getMetrics',
  method: 'GET',
  path: '/metrics',
  summary: 'Read the metrics of this node',
  description: 'Answers in the text format of Prometheus. Every API key is accepted.',
  tags: ['Service'],
  auth: true,
  example: { status: 200, answer: { 'text/plain': 'runwire_active_runs 3\n' } },
  responses: {
    200: { description: 'The metrics.', schema: text('The metrics.'), contentTypes: ['text/plain'] },
    ...refusals(401, 500, 503),
  },
});

export const listNodes = operation({
  operationId: 'listNodes',
  method: 'GET',
  path: '/v2/nodes',
  summary: 'List the nodes of this installation, newest first (administrator)',
  description:
    'A node that has stopped or was fenced stays listed for a day, and until other nodes have taken over its runs. With ' +
    'the embedded store the list has one node.',
  tags: ['Service'],
  auth: true,
  query: Type.Object(pageQuery),
  example: { query: { limit: 50 }, status: 200, answer: page(node) },
  responses: {
    200: { description: 'A page of nodes.', schema: ref(ServiceNodeList) },
    ...refusals(400, 401, 403, 500, 503),
  },
});

export const getOpenApi = operation({
  operationId: 'getOpenApi',
  method: 'GET',
  path: '/openapi.json',
  summary: 'Read this OpenAPI document',
  tags: ['Service'],
  auth: false,
  example: {
    status: 200,
    answer: json({ openapi: '3.0.3', info: { title: 'Runwire', version: '1.0.0' }, paths: {} }),
  },
  responses: {
    200: { description: 'The OpenAPI document.', schema: freeObject({ description: 'The OpenAPI document.' }) },
  },
});

export const getAgencySchema = operation({
  operationId: 'getAgencySchema',
  method: 'GET',
  path: '/agency.schema.json',
  summary: 'Read the JSON Schema of agency.yaml',
  description: 'Editors use it to complete and to check the files of agencies.',
  tags: ['Service'],
  auth: false,
  example: { status: 200, answer: json({ title: 'Runwire agency', type: 'object' }) },
  responses: {
    200: { description: 'The schema.', schema: freeObject({ description: 'A JSON Schema of draft 7.' }) },
  },
});

export const getEvalSchema = operation({
  operationId: 'getEvalSchema',
  method: 'GET',
  path: '/evals.schema.json',
  summary: 'Read the JSON Schema of evals/*.yaml',
  description: 'Editors use it to complete and to check the files of evals.',
  tags: ['Service'],
  auth: false,
  example: { status: 200, answer: json({ title: 'Runwire evals', type: 'object' }) },
  responses: {
    200: { description: 'The schema.', schema: freeObject({ description: 'A JSON Schema of draft 7.' }) },
  },
});

export const getDocs = operation({
  operationId: 'getDocs',
  method: 'GET',
  path: '/docs',
  summary: 'Read the API reference',
  tags: ['Service'],
  auth: false,
  example: { status: 200, answer: { 'text/html': '<!doctype html>' } },
  responses: { 200: { description: 'The page.', schema: text('The page.'), contentTypes: ['text/html'] } },
});

export const headHealth = toHead(getHealth, 'headHealth');
export const headReadiness = toHead(getReadiness, 'headReadiness');
export const headOpenApi = toHead(getOpenApi, 'headOpenApi');
export const headDocs = toHead(getDocs, 'headDocs');
