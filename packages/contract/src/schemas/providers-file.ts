import type { Static } from 'typebox';
import { oneOfStrings, strictObject } from './kit.ts';
import { Type } from './type.ts';

/* The shape of `providers.yaml`, the file beside the agencies that adds model providers and changes built-in ones. */

const providerPattern = '^[a-z0-9][a-z0-9-]{0,39}$';

const packagePattern = '^(@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*$';

/** Explains what a pattern of `providers.yaml` allows, as `agencyPatternSentences` does. */
export const providersPatternSentences: Readonly<Record<string, string>> = {
  [providerPattern]: 'use 1 to 40 lower-case letters, digits and `-`, and begin with a letter or a digit',
  [packagePattern]: 'write the name of a package, such as `@ai-sdk/google`',
};

const traits = strictObject({
  window: Type.Optional(Type.Integer({ minimum: 1000 })),
  maxOutputTokens: Type.Optional(Type.Integer({ minimum: 1 })),
  images: Type.Optional(Type.Boolean()),
  pdf: Type.Optional(Type.Boolean()),
  output: Type.Optional(Type.Boolean()),
});

const provider = strictObject({
  api: Type.Optional(oneOfStrings(['responses', 'chat', 'messages'])),
  baseUrl: Type.Optional(Type.String({ minLength: 1 })),
  apiKey: Type.Optional(Type.String({ minLength: 1 })),
  package: Type.Optional(Type.String({ pattern: packagePattern })),
  options: Type.Optional(Type.Unsafe<Record<string, unknown>>({ type: 'object' })),
  models: Type.Optional(
    Type.Unsafe<Record<string, Static<typeof traits>>>({
      type: 'object',
      additionalProperties: { $ref: '#/definitions/traits' },
    }),
  ),
});

export type ProviderFile = Static<typeof provider>;

export const ProvidersFile = Type.Unsafe<Record<string, ProviderFile>>({
  type: 'object',
  propertyNames: { pattern: providerPattern },
  additionalProperties: { $ref: '#/definitions/provider' },
  definitions: { provider, traits },
});
