import { callerId, freeObject, named, nullable, oneOfStrings, strictObject, text, time } from './kit.ts';
import { clientPermissions } from './operation.ts';
import { Type } from './type.ts';

const permissions = (options: object) =>
  Type.Array(oneOfStrings(clientPermissions, { description: 'A permission.' }), { ...options });
const origins = (options: object = {}) =>
  nullable(
    Type.Array(text('An exact origin, such as `https://app.example.com`.', { maxLength: 300 }), {
      description: 'The pages that may use the token. Null: pages of every origin.',
      ...options,
    }),
  );
const CHAT = 'The only chat that the token reaches. Null: all chats of the member.';
const AGENT = 'The only entry point that the token can run. Null: every entry point of the agency.';
const FOLDER =
  'Canonical folder: uploads, files and `sandboxFiles` must be at or below it. With `upload` or `files` the default ' +
  'is the folder of the member. Null: the token reaches no file.';

export const CreateClientTokenRequest = named(
  'CreateClientTokenRequest',
  strictObject(
    {
      consumerId: callerId('The member that the token speaks for. It must be registered and active.'),
      chatId: Type.Optional(nullable(callerId(CHAT))),
      agent: Type.Optional(nullable(text(AGENT, { minLength: 1, maxLength: 256 }))),
      can: Type.Optional(
        permissions({
          minItems: 1,
          uniqueItems: true,
          description: 'What the token permits. The default is `run` and `read`.',
        }),
      ),
      folder: Type.Optional(nullable(text(FOLDER))),
      // Ajv throws on `nullable` without `type`, so one of the variants allows null.
      userContext: Type.Optional(
        Type.Unsafe<Record<string, unknown> | string | null>({
          description: "The `user_context` of the token's runs, at most 4 KiB as JSON.",
          anyOf: [nullable(freeObject()), Type.String()],
        }),
      ),
      origins: Type.Optional(origins({ minItems: 1, maxItems: 10, uniqueItems: true })),
      expiresInSeconds: Type.Optional(
        Type.Integer({ minimum: 30, maximum: 3600, default: 600, description: 'How long the token is valid.' }),
      ),
    },
    { description: 'The token to mint.' },
  ),
);

export const ClientToken = named(
  'ClientToken',
  Type.Object(
    {
      clientToken: text('The token itself. The server does not store it.'),
      apiIntegrationId: text('Identifier of the integration.'),
      consumerId: text('The member that the token speaks for.'),
      chatId: nullable(text(CHAT)),
      agent: nullable(text(AGENT)),
      can: permissions({ description: 'What the token permits.' }),
      folder: nullable(text(FOLDER)),
      origins: origins(),
      expiresAt: time('The token is refused from this time on, or earlier if its key is revoked or its member leaves.'),
    },
    { description: 'A token with which a page speaks for one member.' },
  ),
);
