import {
  ApiKeyList,
  CreateApiKeyRequest,
  CreatedApiKey,
  CreatedOwner,
  CreatedPerson,
  CreateOwnerRequest,
  CreatePersonRequest,
  Me,
  OwnerList,
  Person,
  PersonList,
  UpdateMeRequest,
  UpdatePersonRequest,
} from '../account.ts';
import { ref, text } from '../kit.ts';
import { bodyRefusals, operation, pageQuery, refusals } from '../operation.ts';
import { Type } from '../type.ts';
import { apiKey, json, keyOfRequest, owner, page, person } from './examples.ts';

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
  description: 'Its people and its API keys end with it. You cannot delete yourself.',
  tags: ['Accounts'],
  auth: true,
  params: Type.Object({ ownerId: text('Identifier of the owner.') }),
  example: { params: { ownerId: 'own_2' }, status: 204 },
  responses: { 204: { description: 'The owner was deleted.' }, ...refusals(400, 401, 403, 404, 409, 500, 503) },
});

const personParams = Type.Object({ personId: text('Identifier of the person.') });
const personExample = {
  ...person,
  state: 'active',
  lastSeenAt: '2030-01-01T09:00:00.000Z',
  createdAt: '2030-01-01T09:00:00.000Z',
};

export const createPerson = operation({
  operationId: 'createPerson',
  method: 'POST',
  path: '/v2/people',
  summary: 'Invite a person',
  returnsSecret: true,
  description: 'The person sets a password with the set-up link and then signs in to the console.',
  tags: ['Accounts'],
  auth: true,
  body: ref(CreatePersonRequest),
  example: {
    body: { email: 'bo@example.com', name: 'Bo', role: 'operator' },
    status: 201,
    answer: json({
      ...personExample,
      state: 'invited',
      lastSeenAt: null,
      setupLink: 'https://agents.example.com/console/#set_up=Zk3v…',
    }),
  },
  responses: {
    201: { description: 'The invited person with the set-up link.', schema: ref(CreatedPerson) },
    ...bodyRefusals(),
    ...refusals(401, 403, 409, 500, 503),
  },
});

export const listPeople = operation({
  operationId: 'listPeople',
  method: 'GET',
  path: '/v2/people',
  summary: 'List the people of your owner, newest first',
  tags: ['Accounts'],
  auth: true,
  query: Type.Object(pageQuery),
  example: { query: { limit: 50 }, status: 200, answer: page(personExample) },
  responses: {
    200: { description: 'A page of people.', schema: ref(PersonList) },
    ...refusals(400, 401, 403, 500, 503),
  },
});

export const getPerson = operation({
  operationId: 'getPerson',
  method: 'GET',
  path: '/v2/people/:personId',
  summary: 'Read a person',
  tags: ['Accounts'],
  auth: true,
  params: personParams,
  example: { params: { personId: 'per_1' }, status: 200, answer: json(personExample) },
  responses: {
    200: { description: 'The person.', schema: ref(Person) },
    ...refusals(400, 401, 403, 404, 500, 503),
  },
});

export const updatePerson = operation({
  operationId: 'updatePerson',
  method: 'PATCH',
  path: '/v2/people/:personId',
  summary: 'Change a person',
  description: 'A changed role counts on every node within 5 seconds.',
  tags: ['Accounts'],
  auth: true,
  params: personParams,
  body: ref(UpdatePersonRequest),
  example: { params: { personId: 'per_1' }, body: { role: 'operator' }, status: 200, answer: json(personExample) },
  responses: {
    200: { description: 'The person.', schema: ref(Person) },
    ...bodyRefusals(),
    ...refusals(401, 403, 404, 409, 500, 503),
  },
});

export const deletePerson = operation({
  operationId: 'deletePerson',
  method: 'DELETE',
  path: '/v2/people/:personId',
  summary: 'Remove a person',
  description: 'The password and the sessions end with the person. The keys that the person made stay.',
  tags: ['Accounts'],
  auth: true,
  params: personParams,
  example: { params: { personId: 'per_1' }, status: 204 },
  responses: {
    204: { description: 'The person was removed.' },
    ...refusals(400, 401, 403, 404, 409, 500, 503),
  },
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
    ...refusals(401, 403, 404, 500, 503),
  },
});

export const listApiKeys = operation({
  operationId: 'listApiKeys',
  method: 'GET',
  path: '/v2/api_keys',
  summary: 'List your API keys, newest first',
  description: 'A developer sees only the keys that it made. The key of `RUNWIRE_API_KEY` is the first of the list.',
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
  summary: "Read your API key's owner, and who you are",
  tags: ['Accounts'],
  auth: true,
  example: {
    status: 200,
    answer: json({ ...owner, person: null, key: keyOfRequest }),
  },
  responses: { 200: { description: 'The owner and the key.', schema: ref(Me) }, ...refusals(401, 500, 503) },
});

export const updateMe = operation({
  operationId: 'updateMe',
  method: 'PATCH',
  path: '/v2/me',
  summary: 'Change your name or your e-mail address',
  description:
    'The e-mail address is the one with which you sign in to the console. With an API key, which must be a manager of all integrations, the first person of the owner is changed.',
  tags: ['Accounts'],
  auth: true,
  body: ref(UpdateMeRequest),
  example: {
    body: { name: 'Ann' },
    status: 200,
    answer: json({ ...owner, person: null, key: keyOfRequest }),
  },
  responses: {
    200: { description: 'The owner and the key.', schema: ref(Me) },
    ...bodyRefusals(),
    ...refusals(401, 404, 409, 500, 503),
  },
});
