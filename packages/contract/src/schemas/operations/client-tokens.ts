import { ClientToken, CreateClientTokenRequest } from '../client-token.ts';
import { ref } from '../kit.ts';
import {
  bodyRefusals,
  integrationParams,
  integrationPath,
  integrationRefusals,
  operation,
  refusals,
} from '../operation.ts';
import { Type } from '../type.ts';
import { integrationExample, json } from './examples.ts';

const fields = {
  consumerId: 'user-42',
  chatId: null,
  agent: null,
  can: ['run', 'read'],
  folder: null,
  origins: ['https://app.example.com'],
};

export const createClientToken = operation({
  operationId: 'createClientToken',
  method: 'POST',
  path: `${integrationPath}/client_tokens`,
  summary: 'Mint a client token for one member',
  description:
    'A page uses the token instead of an API key. It permits only what `can` lists, only for this member, for some ' +
    'minutes. It ends with its API key and with its member. A client token cannot mint tokens.',
  tags: ['Members'],
  auth: true,
  returnsSecret: true,
  params: Type.Object(integrationParams),
  body: ref(CreateClientTokenRequest),
  example: {
    params: integrationExample,
    body: { ...fields, userContext: { plan: 'pro' }, expiresInSeconds: 600 },
    status: 201,
    answer: json({
      clientToken: 'eyJ…',
      apiIntegrationId: 'demo',
      ...fields,
      expiresAt: '2030-01-01T09:10:00.000Z',
    }),
  },
  responses: {
    201: { description: 'The token.', schema: ref(ClientToken) },
    ...integrationRefusals(),
    ...bodyRefusals(),
    ...refusals(429),
  },
});
