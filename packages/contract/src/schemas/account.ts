import { roles } from '../roles.ts';
import { displayName, flag, named, nullable, oneOfStrings, strictObject, text, time, toList } from './kit.ts';
import { Type } from './type.ts';

const ROLE =
  '`viewer` reads, `operator` also handles members and questions, `developer` changes everything below integrations, `manager` may do everything of the owner.';
const role = (description: string) => oneOfStrings(roles, { description: `${description} ${ROLE}` });
const integrations = () =>
  nullable(
    Type.Array(text('Identifier of an integration.'), {
      description: 'The only integrations that the key reaches. Null: all integrations of the owner.',
    }),
  );
const keyName = () => nullable(text('Name of the key, for people.'));
const expiresAt = () => nullable(time('The key is refused from this time on. Null if it does not expire.'));

const keyFields = {
  keyId: nullable(text('Identifier of the API key. Null for `RUNWIRE_API_KEY`.')),
  name: keyName(),
  role: role('What the key may do.'),
  integrations: integrations(),
  suffix: nullable(text('The last 6 characters of the key. Null for `RUNWIRE_API_KEY`.')),
  createdBy: nullable(
    Type.Object(
      {
        kind: oneOfStrings(['person', 'key'], { description: 'Who made the key.' }),
        id: nullable(text('Identifier of the person or of the key. Null for `RUNWIRE_API_KEY`.')),
        name: nullable(text('Name at that time; of a person without a name the e-mail address.')),
      },
      { description: 'Who made the key. Null if a command on the machine or an earlier version made it.' },
    ),
  ),
  createdAt: nullable(time('When the key was created. Null for `RUNWIRE_API_KEY`.')),
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
      role: Type.Optional(role('What the key may do; at most your own role. The default is `manager`.')),
      integrations: Type.Optional(
        nullable(
          Type.Array(text('Identifier of an integration.', { minLength: 1, maxLength: 64 }), {
            minItems: 1,
            maxItems: 100,
            uniqueItems: true,
            description: 'The only integrations that the key reaches. Null or absent: all integrations of the owner.',
          }),
        ),
      ),
    },
    { description: 'The key to create.' },
  ),
);

export const CreatedApiKey = named(
  'CreatedApiKey',
  Type.Object(
    {
      ...keyFields,
      keyId: text('Identifier of the API key.'),
      createdAt: time('When the key was created.'),
      apiKey: text('The key itself. The server shows it only in this answer.'),
    },
    { description: 'A new API key.' },
  ),
);

const email = () =>
  text('E-mail address of the person; no other person may have it, regardless of letter case.', {
    format: 'email',
    maxLength: 254,
  });

const person = {
  personId: text('Identifier of the person.'),
  email: nullable(text('E-mail address with which the person signs in. Null until it is set.')),
  name: nullable(text('Name of the person.')),
  role: role('What the person may do.'),
};

export const Person = named(
  'Person',
  Type.Object(
    {
      ...person,
      state: oneOfStrings(['invited', 'active'], {
        description: '`invited` until the person has set a password with the set-up link.',
      }),
      lastSeenAt: nullable(time('When the person last used the console, to the minute. Null if never.')),
      createdAt: time('When the person was created.'),
    },
    { description: 'A person who signs in for the owner.' },
  ),
);

export const PersonList = toList('PersonList', Person);

export const CreatePersonRequest = named(
  'CreatePersonRequest',
  strictObject(
    {
      email: email(),
      name: Type.Optional(nullable(displayName('Name of the person.'))),
      role: role('What the person may do.'),
    },
    { description: 'The person to invite.' },
  ),
);

export const CreatedPerson = named(
  'CreatedPerson',
  Type.Object(
    {
      ...Person.properties,
      setupLink: text('One-time link with which the person sets a password. It is valid for 24 hours.'),
    },
    { description: 'An invited person.' },
  ),
);

export const UpdatePersonRequest = named(
  'UpdatePersonRequest',
  strictObject(
    {
      email: Type.Optional(email()),
      name: Type.Optional(nullable(displayName('Name of the person. Null removes it.'))),
      role: Type.Optional(role('What the person may do.')),
    },
    { description: 'What to change of the person. Fields that are absent keep their values.' },
  ),
);

const owner = {
  ownerId: text('Identifier of the owner.'),
  email: nullable(text('E-mail address of the first person of the owner. Null if none is set.')),
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
      person: nullable(
        Type.Object(person, {
          description: 'The person who is signed in. Null if the request was sent with an API key.',
        }),
      ),
      key: Type.Object(
        {
          keyId: nullable(
            text('Identifier of the API key, or of the session for a console token. Null for `RUNWIRE_API_KEY`.'),
          ),
          name: keyName(),
          expiresAt: expiresAt(),
          role: role('What this request may do.'),
          integrations: integrations(),
        },
        { description: 'The API key of this request. For a console token it is the session, named `console`.' },
      ),
    },
    { description: 'The owner, the person and the API key of this request.' },
  ),
);

export const UpdateMeRequest = named(
  'UpdateMeRequest',
  strictObject(
    {
      email: Type.Optional(email()),
      name: Type.Optional(nullable(displayName('Your name. Null removes it.'))),
    },
    { description: 'What to change of yourself. Fields that are absent keep their values.' },
  ),
);
