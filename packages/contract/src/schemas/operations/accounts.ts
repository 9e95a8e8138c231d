import {
  ApiKeyList,
  CreateApiKeyRequest,
  CreatedApiKey,
  CreatedOwner,
  CreateOwnerRequest,
  Me,
  OwnerList,
} from '../account.ts';
import { ref } from '../kit.ts';
import { bodyRefusals, operation, pageQuery, refusals } from '../operation.ts';
import { Type } from '../type.ts';

export const createOwner = operation({
  operationId: 'createOwner',
  method: 'POST',
  path: '/v2/owners',
  summary: 'Create a further owner (administrator)',
  tags: ['Accounts'],
  auth: true,
  body: ref(CreateOwnerRequest),
  responses: {
    201: { description: 'The owner, with a key that is shown this once.', schema: ref(CreatedOwner) },
    ...bodyRefusals(),
    ...refusals(401, 403, 409, 500, 503),
  },
});

export const listOwners = operation({
  operationId: 'listOwners',
  method: 'GET',
  path: '/v2/owners',
  summary: 'List owners, newest first (administrator)',
  tags: ['Accounts'],
  auth: true,
  query: Type.Object(pageQuery),
  responses: {
    200: { description: 'A page of owners.', schema: ref(OwnerList) },
    ...refusals(400, 401, 403, 500, 503),
  },
});

export const createApiKey = operation({
  operationId: 'createApiKey',
  method: 'POST',
  path: '/v2/api_keys',
  summary: 'Create an API key',
  tags: ['Accounts'],
  auth: true,
  body: ref(CreateApiKeyRequest),
  responses: {
    201: { description: 'The key, shown this once.', schema: ref(CreatedApiKey) },
    ...bodyRefusals(),
    ...refusals(401, 500, 503),
  },
});

export const listApiKeys = operation({
  operationId: 'listApiKeys',
  method: 'GET',
  path: '/v2/api_keys',
  summary: 'List your API keys, newest first',
  tags: ['Accounts'],
  auth: true,
  query: Type.Object(pageQuery),
  responses: {
    200: { description: 'A page of API keys.', schema: ref(ApiKeyList) },
    ...refusals(400, 401, 500, 503),
  },
});

export const revokeApiKey = operation({
  operationId: 'revokeApiKey',
  method: 'DELETE',
  path: '/v2/api_keys/:keyId',
  summary: 'Revoke an API key; it stays listed',
  tags: ['Accounts'],
  auth: true,
  params: Type.Object({ keyId: Type.String() }),
  responses: { 204: { description: 'The key is revoked.' }, ...refusals(400, 401, 404, 409, 500, 503) },
});

export const getMe = operation({
  operationId: 'getMe',
  method: 'GET',
  path: '/v2/me',
  summary: 'Ask whether your key is good, and whose it is',
  tags: ['Accounts'],
  auth: true,
  responses: { 200: { description: 'The owner and the key.', schema: ref(Me) }, ...refusals(401, 500, 503) },
});
