import { AgencyDefinition, AgencyList } from '../agency.ts';
import { CreateIntegrationRequest, Integration, IntegrationList, UpdateIntegrationRequest } from '../integration.ts';
import { ref, text } from '../kit.ts';
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
import { agency, agencyDefinition, allowanceSetting, integration, integrationExample, json, page } from './examples.ts';

export const createIntegration = operation({
  operationId: 'createIntegration',
  method: 'POST',
  path: '/v2/integrations',
  summary: 'Create an integration',
  tags: ['Integrations'],
  auth: true,
  createsIntegration: true,
  body: ref(CreateIntegrationRequest),
  example: {
    body: { apiIntegrationId: 'demo', name: 'Demo', agency: 'demo', allowances: allowanceSetting },
    status: 201,
    answer: json(integration),
  },
  responses: {
    201: { description: 'The integration.', schema: ref(Integration) },
    ...bodyRefusals(),
    ...refusals(401, 409, 500, 503),
  },
});

export const listIntegrations = operation({
  operationId: 'listIntegrations',
  method: 'GET',
  path: '/v2/integrations',
  summary: 'List your integrations, newest first',
  tags: ['Integrations'],
  auth: true,
  query: Type.Object(pageQuery),
  example: { query: { limit: 50 }, status: 200, answer: page(integration) },
  responses: {
    200: { description: 'A page of integrations.', schema: ref(IntegrationList) },
    ...refusals(400, 401, 500, 503),
  },
});

export const getIntegration = operation({
  operationId: 'getIntegration',
  method: 'GET',
  path: integrationPath,
  summary: 'Read an integration',
  tags: ['Integrations'],
  auth: true,
  params: Type.Object(integrationParams),
  example: { params: integrationExample, status: 200, answer: json(integration) },
  responses: { 200: { description: 'The integration.', schema: ref(Integration) }, ...integrationRefusals() },
});

export const updateIntegration = operation({
  operationId: 'updateIntegration',
  method: 'PATCH',
  path: integrationPath,
  summary: 'Change an integration',
  description: 'Fields that the request omits keep their values. `allowances` is replaced as one value.',
  tags: ['Integrations'],
  auth: true,
  params: Type.Object(integrationParams),
  body: ref(UpdateIntegrationRequest),
  example: {
    params: integrationExample,
    body: { textOnly: true },
    status: 200,
    answer: json({ ...integration, textOnly: true }),
  },
  responses: {
    200: { description: 'The integration.', schema: ref(Integration) },
    ...integrationRefusals(),
    ...bodyRefusals(),
  },
});

export const deleteIntegration = operation({
  operationId: 'deleteIntegration',
  method: 'DELETE',
  path: integrationPath,
  summary: 'Delete an integration; its id can never be used again',
  tags: ['Integrations'],
  auth: true,
  params: Type.Object(integrationParams),
  example: { params: integrationExample, status: 204 },
  responses: { 204: { description: 'The integration was deleted.' }, ...integrationRefusals(), ...refusals(409) },
});

export const listAgencies = operation({
  operationId: 'listAgencies',
  method: 'GET',
  path: '/v2/agencies',
  summary: 'List agencies with their entry points and flows',
  tags: ['Agencies'],
  auth: true,
  query: Type.Object(pageQuery),
  example: { query: { limit: 50 }, status: 200, answer: page(agency) },
  responses: {
    200: { description: 'A page of agencies.', schema: ref(AgencyList) },
    ...refusals(400, 401, 500, 503),
  },
});

export const getAgencyDefinition = operation({
  operationId: 'getAgencyDefinition',
  method: 'GET',
  path: '/v2/agencies/:agency/definition',
  summary: 'Read the instructions and tools of the agents of an agency',
  description: 'Shows the version that new runs use. Keys that are limited to some integrations may not read it.',
  tags: ['Agencies'],
  auth: true,
  params: Type.Object({ agency: text('Identifier of the agency.') }),
  example: { params: { agency: 'demo' }, status: 200, answer: json(agencyDefinition) },
  responses: {
    200: { description: 'The definition.', schema: ref(AgencyDefinition) },
    ...refusals(400, 401, 500, 503),
  },
});
