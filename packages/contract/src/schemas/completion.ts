import type { Static } from 'typebox';
import { callerId, freeObject, mapOf, named, noControlCharacters, nullable, oneOfStrings, ref } from './kit.ts';
import { Type } from './type.ts';

export const FileAttachment = named(
  'FileAttachment',
  Type.Object(
    {
      type: oneOfStrings(['input_file']),
      file_url: Type.String({
        format: 'uri',
        description:
          'Publicly accessible HTTPS URL of the file, at most 8192 characters, fetched when the run starts. In messages ' +
          'that are read back it stands without query and fragment, as `attachmentUrlRefreshes` calls it.',
      }),
      filename: Type.Optional(
        Type.String({
          description:
            'File name without a directory path: one segment of at most 255 bytes, without control characters. Where it ' +
            'is left out, the last part of the URL counts.',
        }),
      ),
    },
    { additionalProperties: false },
  ),
);

export const ImageAttachment = named(
  'ImageAttachment',
  Type.Object(
    {
      type: oneOfStrings(['input_image']),
      image_url: Type.String({
        minLength: 1,
        description:
          'Publicly accessible HTTPS image URL, or an inline image data URL: `data:image/png;base64,…`, strict base64 of ' +
          'a PNG, JPEG, GIF or WebP image. In messages that are read back, a URL stands without query and fragment, and a ' +
          'data URL without data stands for an inline image: `data:image/png;sha256=…;bytes=…,`.',
      }),
      detail: Type.Optional(oneOfStrings(['auto', 'low', 'high'], { default: 'auto' })),
    },
    { additionalProperties: false },
  ),
);

// Ajv throws on a discriminator's `mapping`: it is added where the OpenAPI document is written. With a discriminator Ajv
// looks at objects alone, so without `type` a string or a number would pass.
export const Attachment = named(
  'Attachment',
  Type.Unsafe<Static<typeof FileAttachment> | Static<typeof ImageAttachment>>({
    type: 'object',
    discriminator: { propertyName: 'type' },
    required: ['type'],
    oneOf: [ref(FileAttachment), ref(ImageAttachment)],
  }),
);

export const SandboxFile = named(
  'SandboxFile',
  Type.Object({
    name: Type.String({
      pattern: noControlCharacters,
      description: 'Uploaded filename: the final segment of `path`, without control characters.',
    }),
    path: Type.String({
      description: 'Canonical path under /app/mnt/, as returned in `resource` by createAgencyUpload.',
    }),
  }),
);

/** A blank id "counts as missing" in a completion, so the empty string passes here and is judged by admission. */
const idThatMayBeBlank = (description: string) =>
  Type.String({ maxLength: 256, pattern: noControlCharacters, description });

export const GetCompletionV2Request = named(
  'GetCompletionV2Request',
  Type.Object({
    apiIntegrationId: Type.String({ description: 'Integration identifier.' }),
    message: Type.String({ maxLength: 1_000_000, description: 'The user message.' }),
    agent: Type.Optional(
      Type.String({ description: "Agency entry point. When omitted, the integration's default is used." }),
    ),
    chatId: Type.Optional(nullable(callerId({ description: 'Chat identifier.' }))),
    aliasChatId: Type.Optional(nullable(callerId({ description: 'Alias chat identifier.' }))),
    attachments: Type.Optional(Type.Array(ref(Attachment), { maxItems: 5 })),
    sandboxFiles: Type.Optional(Type.Array(ref(SandboxFile), { maxItems: 5 })),
    // Ajv throws on `nullable` without `type`, so null is allowed by one of the variants.
    user_context: Type.Optional(
      Type.Unsafe<Record<string, unknown> | string | null>({
        description: 'Free-form context.',
        anyOf: [nullable(freeObject()), Type.String()],
      }),
    ),
    consumerId: Type.Optional(idThatMayBeBlank('The app member. Required when member allowances are enabled.')),
    usageRequestId: Type.Optional(
      idThatMayBeBlank(
        'Unique id of this request. Required when allowances are enabled. It appears in chat status and usage ' +
          'records. Reuse the same value when recovering an interrupted request.',
      ),
    ),
    attachmentUrlRefreshes: Type.Optional(
      mapOf(Type.String({ format: 'uri' }), {
        description:
          'Keys: an expired earlier attachment URL without its query string. Values: a fresh HTTPS URL with the same ' +
          'host and path. It must list all earlier conversation files that need refreshing: those of which no copy is ' +
          'kept and whose signed links have expired.',
      }),
    ),
  }),
);
