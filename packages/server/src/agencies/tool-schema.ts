import type { CheckInput } from '../agent/ports.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** A tool's schema: the JSON Schema for the model, and its arguments' check. */
export interface ToolSchema {
  readonly jsonSchema: JsonSchema;
  readonly check: CheckInput;
  /** True if a value that the JSON Schema accepts passes `check` unchanged. */
  readonly isPlain: boolean;
}

/** Makes the check of a plain JSON Schema. Throws if it is not valid. */
export type CompileSchema = (jsonSchema: JsonSchema) => CheckInput;

/** The schema cannot be used. The message continues the sentence "its `inputSchema` …". */
export class SchemaRefused extends Error {}

/** The AI SDK marks the results of its `jsonSchema()` with this symbol. */
const AI_SDK_SCHEMA = Symbol.for('vercel.ai.schema');

interface AiSdkSchema {
  readonly jsonSchema: unknown;
  readonly validate?: ((value: unknown) => unknown) | undefined;
}

interface Standard {
  readonly vendor: string;
  readonly validate: (value: unknown) => unknown;
  readonly jsonSchema?: { readonly input: (options: { readonly target: string }) => unknown } | undefined;
}

/** Accepts the same kinds of schemas as the AI SDK, and plain JSON Schema. */
export async function readSchema(given: unknown, compile: CompileSchema): Promise<ToolSchema> {
  if (given === undefined || given === null) {
    return plainSchema({ type: 'object', properties: {}, additionalProperties: false }, compile);
  }
  if (typeof given !== 'object' && typeof given !== 'function') throw new SchemaRefused('is not a schema.');
  if (AI_SDK_SCHEMA in given) return fromAiSdk(given as unknown as AiSdkSchema, compile);
  // This check is before the next one, because the schemas of some libraries are functions.
  if ('~standard' in given) return fromStandard(given['~standard'] as Standard);
  if (typeof given === 'function') return readSchema((given as () => unknown)(), compile);
  return plainSchema(given, compile);
}

async function fromAiSdk(schema: AiSdkSchema, compile: CompileSchema): Promise<ToolSchema> {
  const jsonSchema = await schema.jsonSchema;
  const { validate } = schema;
  if (validate === undefined) return plainSchema(jsonSchema, compile);
  return {
    isPlain: false,
    jsonSchema: asObject(jsonSchema),
    async check(value) {
      const result = (await validate(value)) as { success: boolean; value?: unknown; error?: unknown };
      if (result.success) return { value: result.value };
      return { problem: result.error instanceof Error ? result.error.message : String(result.error) };
    },
  };
}

function fromStandard(standard: Standard): ToolSchema {
  if (standard.jsonSchema === undefined || standard.jsonSchema === null) {
    throw new SchemaRefused(
      `is of \`${standard.vendor}\`, which has no JSON Schema for it; use a version that has \`~standard.jsonSchema\` (zod 4.2 or later), or write JSON Schema.`,
    );
  }
  let jsonSchema: unknown;
  try {
    jsonSchema = standard.jsonSchema.input({ target: 'draft-07' });
  } catch (error) {
    throw new SchemaRefused(`cannot be sent to a model as JSON Schema: ${toMessage(error)}`);
  }
  return {
    isPlain: false,
    jsonSchema: asObject(jsonSchema),
    async check(value) {
      const result = (await standard.validate(value)) as { value?: unknown; issues?: readonly Issue[] | undefined };
      if (result.issues === undefined || result.issues === null) return { value: result.value };
      return { problem: result.issues.map(issueText).join('; ') };
    },
  };
}

interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

function issueText({ message, path = [] }: Issue): string {
  const names = path.map((part) => String(typeof part === 'object' ? part.key : part));
  return names.length === 0 ? message : `\`${names.join('.')}\`: ${message}`;
}

/** Throws `SchemaRefused` if the schema is not valid. */
export function plainSchema(given: unknown, compile: CompileSchema): ToolSchema {
  const jsonSchema = asObject(given);
  try {
    return { isPlain: true, jsonSchema, check: compile(jsonSchema) };
  } catch (error) {
    throw new SchemaRefused(`is not valid JSON Schema: ${toMessage(error)}`);
  }
}

function asObject(jsonSchema: unknown): JsonSchema {
  if (typeof jsonSchema !== 'object' || jsonSchema === null || Array.isArray(jsonSchema)) {
    throw new SchemaRefused('is not a schema.');
  }
  return jsonSchema as JsonSchema;
}

function toMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
