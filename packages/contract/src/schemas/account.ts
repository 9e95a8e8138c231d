import { displayName, flag, named, nullable, strictObject, text, time, toList } from './kit.ts';
import { Type } from './type.ts';

const keyId = () => text('Identifier of the API key.');
const keyName = () => nullable(text('Name of the key, for people.'));
const expiresAt = () => nullable(time('The key is refused from this time on. Null if it does not expire.'));

const keyFields = {
  keyId: keyId(),
  name: keyName(),
  createdAt: time('When the key was created.'),
  expiresAt: expiresAt(),
  lastUsedAt: nullable(time('When the key was last used, to the minute. Null if it was never used.')),
  revokedAt: nullable(time('When the key was revoked. Null if it was not revoked.')),
};

export const ApiKey = named('ApiKey', Type.Object(keyFields, { description: 'An API key, without the key itself.' }));

export const ApiKeyList = toList('ApiKeyList', ApiKey);

export const CreateApiKeyRequest = named(
  'CreateApiKeyRequest',
  strictObject(
    {
      name: Type.Optional(displayName('Name of the key, for people.')),
      expiresAt: Type.Optional(
        time('When the key expires; it must be in the future. Without it the key never expires.'),
      ),
    },
    { description: 'The key to create.' },
  ),
);

export const CreatedApiKey = named(
  'CreatedApiKey',
  Type.Object(
    { ...keyFields, apiKey: text('The key itself. The server shows it only in this answer.') },
    { description: 'A new API key.' },
  ),
);

const owner = {
  ownerId: text('Identifier of the owner.'),
  email: nullable(text('E-mail address of the owner. Null if none is set.')),
  name: nullable(text('Name of the owner, for people.')),
  administrator: flag('True if the owner may use the operations for administrators.'),
};

export const Owner = named(
  'Owner',
  Type.Object(
    { ...owner, createdAt: time('When the owner was created.') },
    { description: 'An owner of integrations and API keys.' },
  ),
);

export const OwnerList = toList('OwnerList', Owner);

const email = () =>
  text('E-mail address of the owner; no other owner may have it.', { format: 'email', maxLength: 254 });

export const CreateOwnerRequest = named(
  'CreateOwnerRequest',
  strictObject(
    {
      email: email(),
      name: Type.Optional(displayName('Name of the owner, for people.')),
    },
    { description: 'The owner to create.' },
  ),
);

export const CreatedOwner = named(
  'CreatedOwner',
  Type.Object(
    {
      ownerId: text('Identifier of the owner.'),
      email: text('E-mail address of the owner.'),
      apiKey: text("The owner's first API key. The server shows it only in this answer."),
      setupLink: text('One-time link that sets the password for the console. It is valid for 24 hours.'),
    },
    { description: 'A new owner with its first API key.' },
  ),
);

export const Me = named(
  'Me',
  Type.Object(
    {
      ...owner,
      key: Type.Object(
        {
          keyId: nullable(
            text('Identifier of the API key, or of the session for a console token. Null for `RUNWIRE_API_KEY`.'),
          ),
          name: keyName(),
          expiresAt: expiresAt(),
        },
        { description: 'The API key of this request. For a console token it is the session, named `console`.' },
      ),
    },
    { description: 'The owner and the API key of this request.' },
  ),
);

export const UpdateMeRequest = named(
  'UpdateMeRequest',
  strictObject(
    {
      email: Type.Optional(email()),
      name: Type.Optional(nullable(displayName('Name of the owner, for people. Null removes it.'))),
    },
    { description: 'What to change of yourself. Fields that are absent keep their values.' },
  ),
);
