import { validateJsonSchema } from '@runwire/lib/json-schema.ts';
import { withObjectType } from '@runwire/lib/object-type.ts';
import { Refusal } from '../refusal.ts';

/** A tool that a request brings. Only the caller can run it. */
export interface ClientTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

/** All tools of a request together, as JSON. */
const MAX_BYTES = 65_536;

/** Returns the tools' refusal by themselves, or null. */
export function checkClientTools(tools: readonly ClientTool[]): Refusal | null {
  const isLarge = Buffer.byteLength(JSON.stringify(tools)) > MAX_BYTES;
  if (isLarge) return invalid(`\`clientTools\` must have at most ${MAX_BYTES} bytes of JSON.`);
  const names = new Set<string>();
  for (const [index, { name, inputSchema }] of tools.entries()) {
    const at = `clientTools[${index}]`;
    if (names.has(name))
      return invalid(`\`${at}.name\` is \`${name}\`, which is the name of another one too; rename one of them.`);
    names.add(name);
    try {
      validateJsonSchema(inputSchema);
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      return invalid(`\`${at}.inputSchema\` is not a valid JSON Schema: ${problem}.`);
    }
    if (withObjectType(inputSchema) === null)
      return invalid(`\`${at}.inputSchema\` is not an object; write \`"type": "object"\` in it.`);
  }
  return null;
}

const invalid = (sentence: string) => new Refusal('invalid_request', sentence);
