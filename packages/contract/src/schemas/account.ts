import { displayName, listOf, named, nullable, strictObject, time } from './kit.ts';
import { Type } from './type.ts';

const keyFields = {
  keyId: Type.String(),
  name: nullable(Type.String()),
  createdAt: time(),
  expiresAt: nullable(time()),
  lastUsedAt: nullable(time()),
  revokedAt: nullable(time()),
};

export const ApiKey = named('ApiKey', Type.Object(keyFields));

export const ApiKeyList = listOf('ApiKeyList', ApiKey);

export const CreateApiKeyRequest = named(
  'CreateApiKeyRequest',
  strictObject({ name: Type.Optional(displayName()), expiresAt: Type.Optional(time()) }),
);

export const CreatedApiKey = named(
  'CreatedApiKey',
  Type.Object({ ...keyFields, apiKey: Type.String({ description: 'The key itself, shown this once.' }) }),
);

export const Owner = named(
  'Owner',
  Type.Object({
    ownerId: Type.String(),
    email: nullable(Type.String()),
    name: nullable(Type.String()),
    administrator: Type.Boolean(),
    createdAt: time(),
  }),
);

export const OwnerList = listOf('OwnerList', Owner);

export const CreateOwnerRequest = named(
  'CreateOwnerRequest',
  strictObject({ email: Type.String({ format: 'email', maxLength: 254 }), name: Type.Optional(displayName()) }),
);

export const CreatedOwner = named(
  'CreatedOwner',
  Type.Object({
    ownerId: Type.String(),
    email: Type.String(),
    apiKey: Type.String({ description: 'The first key of the owner, shown this once.' }),
    setupLink: nullable(Type.String({ description: 'One-time link that sets the password for the console.' })),
  }),
);

export const Me = named(
  'Me',
  Type.Object({
    ownerId: Type.String(),
    email: nullable(Type.String()),
    name: nullable(Type.String()),
    administrator: Type.Boolean(),
    key: Type.Object({
      keyId: nullable(Type.String()),
      name: nullable(Type.String()),
      expiresAt: nullable(time()),
    }),
  }),
);
