import {
  ApiKeyList,
  CreateApiKeyRequest,
  CreatedApiKey,
  CreatedOwner,
  CreateOwnerRequest,
  Me,
  OwnerList,
  UpdateMeRequest,
} from '../account.ts';
import { ref, text } from '../kit.ts';
import { bodyRefusals, operation, pageQuery, refusals } from '../operation.ts';
import { Type } from '../type.ts';
import { apiKey, json, owner, page } from './examples.ts';

export const createOwner = operation({
  operationId: 'createOwner',
  method: 'POST',
  path: '/v2/owners',
  summary: 'Create an owner (administrator)',
  tags: ['Accounts'],
  auth: true,
  returnsSecret: true,
  body: ref(CreateOwnerRequest),
  example: {
    body: { email: 'ann@example.com', name: 'Ann' },
    status: 201,
    answer: json({
      ownerId: 'own_2',
      email: 'ann@example.com',
      apiKey: 'eyJhbGciOi…',
      setupLink: 'https://agents.example.com/console/#set_up=Zk3v…',
    }),
  },
  responses: {
    201: { description: 'The owner with its first API key.', schema: ref(CreatedOwner) },
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
  example: { query: { limit: 50 }, status: 200, answer: page({ ...owner, createdAt: '2030-01-01T09:00:00.000Z' }) },
  responses: {
    200: { description: 'A page of owners.', schema: ref(OwnerList) },
    ...refusals(400, 401, 403, 500, 503),
  },
});

export const deleteOwner = operation({
  operationId: 'deleteOwner',
  method: 'DELETE',
  path: '/v2/owners/:ownerId',
  summary: 'Delete an owner without integrations (administrator)',
  description: 'Its API keys, its password and its sessions end with it. You cannot delete yourself.',
  tags: ['Accounts'],
  auth: true,
  params: Type.Object({ ownerId: text('Identifier of the owner.') }),
  example: { params: { ownerId: 'own_2' }, status: 204 },
  responses: { 204: { description: 'The owner was deleted.' }, ...refusals(400, 401, 403, 404, 409, 500, 503) },
});

export const createApiKey = operation({
  operationId: 'createApiKey',
  method: 'POST',
  path: '/v2/api_keys',
  summary: 'Create an API key',
  tags: ['Accounts'],
  auth: true,
  returnsSecret: true,
  body: ref(CreateApiKeyRequest),
  example: {
    body: { name: 'backend' },
    status: 201,
    answer: json({ ...apiKey, apiKey: 'eyJhbGciOi…' }),
  },
  responses: {
    201: { description: 'The new API key.', schema: ref(CreatedApiKey) },
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
  example: { query: { limit: 50 }, status: 200, answer: page(apiKey) },
  responses: {
    200: { description: 'A page of API keys.', schema: ref(ApiKeyList) },
    ...refusals(400, 401, 500, 503),
  },
});

export const revokeApiKey = operation({
  operationId: 'revokeApiKey',
  method: 'DELETE',
  path: '/v2/api_keys/:keyId',
  summary: 'Revoke an API key; the list still shows it',
  tags: ['Accounts'],
  auth: true,
  params: Type.Object({ keyId: text('Identifier of the API key.') }),
  example: { params: { keyId: 'key_1' }, status: 204 },
  responses: { 204: { description: 'The key was revoked.' }, ...refusals(400, 401, 404, 409, 500, 503) },
});

export const getMe = operation({
  operationId: 'getMe',
  method: 'GET',
  path: '/v2/me',
  summary: "Read your API key's owner",
  tags: ['Accounts'],
  auth: true,
  example: {
    status: 200,
    answer: json({ ...owner, key: { keyId: 'key_1', name: 'backend', expiresAt: null } }),
  },
  responses: { 200: { description: 'The owner and the key.', schema: ref(Me) }, ...refusals(401, 500, 503) },
});

export const updateMe = operation({
  operationId: 'updateMe',
  method: 'PATCH',
  path: '/v2/me',
  summary: 'Change your name or your e-mail address',
  description: 'The e-mail address is the one with which you sign in to the console.',
  tags: ['Accounts'],
  auth: true,
  body: ref(UpdateMeRequest),
  example: {
    body: { name: 'Ann' },
    status: 200,
    answer: json({ ...owner, key: { keyId: 'key_1', name: 'backend', expiresAt: null } }),
  },
  responses: {
    200: { description: 'The owner and the key.', schema: ref(Me) },
    ...bodyRefusals(),
    ...refusals(401, 404, 409, 500, 503),
  },
});
