import type { Static, TSchema, TUnsafe } from 'typebox';
import { modelId, oneOfStrings, strictObject } from './kit.ts';
import { Type } from './type.ts';

/* The shape of `agency.yaml`. The server checks agencies against it and serves it as `/agency.schema.json`. */

/** A path from the file that names it. */
const filePattern = '^\\./.+';
const flowPattern = '^.+ (->|=>) .+$';
const serverPattern = '^[a-z][a-z0-9-]{0,19}$';
const urlPattern = '^https?://';
const prefixPattern = '^[A-Za-z0-9_-]{0,20}$';

/** An agency's agents, also if they are Markdown files that `agency.yaml` does not list. */
export const MAX_AGENTS = 100;

/** Explains what a pattern of `agency.yaml` allows: "`field` is …; <sentence>". */
export const agencyPatternSentences: Readonly<Record<string, string>> = {
  [filePattern]: 'write the path of a file, beginning with `./`',
  [modelId]: 'write `provider/model`, such as `openai/gpt-5-mini`',
  [flowPattern]: 'write `A -> B` (A asks B) or `A => B` (A hands over to B), with a space on each side',
  [serverPattern]: 'use 1 to 20 lower-case letters, digits and `-`, and begin with a letter',
  [urlPattern]: 'write an address that begins with `https://` or `http://`',
  [prefixPattern]: 'use at most 20 letters, digits, `_` and `-`',
};

/** Named parts of the schema, in `definitions`. */
const part = <T = string>(name: string): TUnsafe<T> => Type.Unsafe<T>({ $ref: `#/definitions/${name}` });
const either = <T>(...schemas: TSchema[]): TUnsafe<T> => Type.Unsafe<T>({ anyOf: schemas });
const maybe = <T extends TSchema>(schema: T) => Type.Optional(schema);

const names = () => maybe(part<string[]>('names'));
const texts = () => Type.Unsafe<Record<string, string>>({ type: 'object', additionalProperties: Type.String() });

const agent = strictObject({
  name: Type.String({ minLength: 1, maxLength: 64 }),
  description: maybe(Type.String()),
  instructions: part('text'),
  model: maybe(part('model')),
  fallback: maybe(part<string[]>('models')),
  settings: maybe(
    strictObject({
      temperature: maybe(Type.Number()),
      topP: maybe(Type.Number()),
      maxOutputTokens: maybe(Type.Integer({ minimum: 1 })),
      parallelToolCalls: maybe(Type.Boolean()),
      toolChoice: maybe(Type.String()),
    }),
  ),
  reasoning: maybe(
    strictObject({
      effort: maybe(oneOfStrings(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'])),
      summary: maybe(oneOfStrings(['auto', 'concise', 'detailed'])),
    }),
  ),
  tools: names(),
  mcp: names(),
  approval: names(),
  editable: names(),
  remember: names(),
  guardrails: names(),
  output: maybe(either<string | Record<string, unknown>>(part('file'), Type.Unsafe({ type: 'object' }))),
  files: maybe(either<boolean | { below: string }>(Type.Boolean(), strictObject({ below: Type.String() }))),
  sandbox: maybe(Type.Boolean()),
  skills: names(),
  starters: maybe(Type.Array(Type.String({ minLength: 1 }), { maxItems: 10 })),
});

const flow = strictObject({
  from: Type.String(),
  to: Type.String(),
  kind: maybe(oneOfStrings(['delegate', 'handoff'])),
  memory: maybe(oneOfStrings(['chat', 'none'])),
  lasts: maybe(oneOfStrings(['chat'])),
  isEnabled: maybe(Type.String()),
});

const requires = (name: string) => ({ required: [name] });

const mcp = strictObject(
  {
    url: maybe(Type.String({ pattern: urlPattern })),
    headers: maybe(texts()),
    command: maybe(Type.String()),
    args: maybe(Type.Array(Type.String())),
    env: maybe(texts()),
    cwd: maybe(part('file')),
    tools: names(),
    prefix: maybe(Type.String({ pattern: prefixPattern })),
    approval: maybe(either<string | string[]>(oneOfStrings(['always', 'never']), part('names'))),
    repeatable: names(),
    session: maybe(oneOfStrings(['shared', 'run'])),
    timeoutSeconds: maybe(Type.Integer({ minimum: 1, maximum: 900 })),
    oauth: maybe(
      strictObject({
        clientId: Type.String(),
        clientSecret: Type.String(),
        scope: maybe(Type.String()),
        issuer: maybe(Type.String()),
      }),
    ),
  },
  {
    oneOf: [
      { ...requires('url'), not: { anyOf: ['command', 'args', 'env', 'cwd'].map(requires) } },
      { ...requires('command'), not: { anyOf: ['url', 'headers'].map(requires) } },
    ],
  },
);

export type AgentFile = Static<typeof agent>;
export type FlowFile = Static<typeof flow>;

export const AgencyFile = strictObject(
  {
    name: Type.String({ minLength: 1, maxLength: 200 }),
    sharedInstructions: maybe(part('text')),
    model: maybe(part('model')),
    fallback: maybe(part<string[]>('models')),
    agents: maybe(
      Type.Array(either<string | AgentFile>(part('file'), part('agent')), { minItems: 1, maxItems: MAX_AGENTS }),
    ),
    entryPoints: maybe(Type.Array(Type.String(), { minItems: 1, uniqueItems: true })),
    defaultAgent: maybe(Type.String()),
    flows: maybe(
      Type.Array(either<string | FlowFile>(Type.String({ pattern: flowPattern }), part('flow')), { maxItems: 1000 }),
    ),
    toolFiles: maybe(Type.Array(part('file'))),
    mcp: maybe(
      Type.Unsafe<Record<string, Static<typeof mcp>>>({
        type: 'object',
        propertyNames: { pattern: serverPattern },
        additionalProperties: part('mcp'),
      }),
    ),
    env: maybe(texts()),
    contextToModel: maybe(Type.Boolean()),
    propagateTrace: maybe(Type.Boolean()),
    guardrails: names(),
    longChats: maybe(oneOfStrings(['summarize', 'leave_out'])),
    summaryModel: maybe(part('model')),
    limits: maybe(
      strictObject({
        steps: maybe(Type.Integer({ minimum: 1, maximum: 200 })),
        depth: maybe(Type.Integer({ minimum: 1, maximum: 10 })),
        handOffs: maybe(Type.Integer({ minimum: 0, maximum: 50 })),
        toolOutputCharacters: maybe(Type.Integer({ minimum: 1000, maximum: 400_000 })),
      }),
    ),
  },
  {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Runwire agency',
    definitions: {
      text: Type.String({ description: 'Text, or the name of a file beside it: ./x.md or ./x.txt' }),
      file: Type.String({ pattern: filePattern }),
      model: Type.String({ pattern: modelId }),
      models: Type.Array(part('model'), { maxItems: 3 }),
      names: Type.Array(Type.String(), { uniqueItems: true }),
      agent,
      flow,
      mcp,
    },
  },
);

export type AgencyFile = Static<typeof AgencyFile>;
