import { Attachment } from './attachment.ts';
import { history } from './history.ts';
import { callerId, freeObject, named, noControlCharacters, nullable, recordSchema, ref, text } from './kit.ts';
import { Answer, ClientTool } from './question.ts';
import { Type } from './type.ts';

export const SandboxFile = named(
  'SandboxFile',
  Type.Object(
    {
      name: text('Uploaded filename: the final segment of `path`, without control characters.', {
        pattern: noControlCharacters,
      }),
      path: text('Canonical path under /app/mnt/, as returned in `resource` by createAgencyUpload.'),
    },
    { description: 'An uploaded file that the agent can read with its file tools.' },
  ),
);

/** A blank id "counts as missing" (`contract-4-blank-attribution`), so the schema accepts it and admission decides. */
export const idThatMayBeBlank = (description: string) =>
  text(description, { maxLength: 256, pattern: noControlCharacters });

// Ajv throws on `nullable` without `type`, so one of the variants allows null.
export const userContext = () =>
  Type.Unsafe<Record<string, unknown> | string | null>({
    description: 'Free-form context. Tools always get it; the model gets it only if the agency asks for it.',
    anyOf: [nullable(freeObject()), Type.String()],
  });

export const GetCompletionV2Request = named(
  'GetCompletionV2Request',
  Type.Object(
    {
      apiIntegrationId: text('Integration identifier.'),
      message: text('The user message.', { maxLength: 1_000_000 }),
      agent: Type.Optional(text("Agency entry point. When omitted, the integration's default is used.")),
      chatId: Type.Optional(nullable(callerId('Chat identifier. An unknown one starts a new chat with this id.'))),
      aliasChatId: Type.Optional(
        nullable(callerId('Alias chat identifier. An unknown one starts a new chat with this alias.')),
      ),
      attachments: Type.Optional(
        Type.Array(ref(Attachment), { maxItems: 5, description: 'Files and images for the model, by URL or inline.' }),
      ),
      sandboxFiles: Type.Optional(
        Type.Array(ref(SandboxFile), { maxItems: 5, description: 'Uploaded files for the tools of the agent.' }),
      ),
      user_context: Type.Optional(userContext()),
      consumerId: Type.Optional(idThatMayBeBlank('The app member. Required when member allowances are enabled.')),
      usageRequestId: Type.Optional(
        idThatMayBeBlank(
          'Unique id of this request. Required when allowances are enabled. It appears in chat status and usage ' +
            'records. Reuse the same value when recovering an interrupted request.',
        ),
      ),
      answers: Type.Optional(
        Type.Array(ref(Answer), {
          maxItems: 64,
          description:
            'Answers to the open questions of the chat. Open questions without an answer are declined. `message` may be ' +
            'empty.',
        }),
      ),
      clientTools: Type.Optional(
        Type.Array(ref(ClientTool), {
          maxItems: 64,
          description:
            'Tools that you run yourself, at most 64 KiB as JSON. A call of one ends the run with a question. Allowed if ' +
            'the integration has `clientTools`.',
        }),
      ),
      history: Type.Optional(history()),
      instructions: Type.Optional(
        text(
          'Added to what the first agent is instructed to do, for this run only. At most 32 KiB. Allowed if the ' +
            'integration has `callerInstructions`.',
        ),
      ),
      attachmentUrlRefreshes: Type.Optional(
        recordSchema(Type.String({ format: 'uri' }), {
          description:
            'Keys: an expired earlier attachment URL without its query string. Values: a fresh HTTPS URL with the same ' +
            'host and path. It must list all earlier conversation files that need refreshing: files of which the ' +
            'server keeps no copy and whose signed links have expired.',
        }),
      ),
    },
    { description: 'A message for an agent.' },
  ),
);
