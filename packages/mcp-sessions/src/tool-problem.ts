import { specTypeSchemas } from '@modelcontextprotocol/client';
import { validateJsonSchema } from '@runwire/lib/json-schema.ts';

/** A tool of a server that agents do not get. */
export interface LeftOutTool {
  /** By the server's name; '' if it has none. */
  readonly name: string;
  /** Continues a sentence that names the tool. */
  readonly reason: string;
}

const MAX_DEPTH = 100;

type Fields = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns why the tool cannot be used, or null. A provider would refuse every request with a schema that is wrong. */
export function toolProblem(tool: unknown): LeftOutTool | null {
  const reason = isObject(tool) ? problemIn(tool) : 'it is not an object';
  return reason === null ? null : { name: isObject(tool) && typeof tool.name === 'string' ? tool.name : '', reason };
}

function problemIn(tool: Fields): string | null {
  const { inputSchema } = tool;
  // Code that reads a deeper schema would exceed the stack.
  if (isDeep(tool, 0)) return `it is nested deeper than ${MAX_DEPTH} levels`;
  if (!isObject(inputSchema) || inputSchema.type !== 'object') return 'its `inputSchema` is not of the type `object`';
  const checked = specTypeSchemas.Tool['~standard'].validate(tool);
  if (!('issues' in checked) || checked.issues === undefined) return schemaProblem(inputSchema);
  const [issue] = checked.issues;
  return `its \`${issue?.path?.map(String).join('.') ?? ''}\` is not as MCP requires`;
}

function schemaProblem(schema: Fields): string | null {
  try {
    validateJsonSchema(schema);
    return null;
  } catch {
    return 'its `inputSchema` is not valid JSON Schema';
  }
}

function isDeep(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return depth > MAX_DEPTH || Object.values(value).some((inner) => isDeep(inner, depth + 1));
}
