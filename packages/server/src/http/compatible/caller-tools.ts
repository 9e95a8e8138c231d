import type { ClientTool } from '../../domain/question/client-tool.ts';
import { Fields } from './fields.ts';

const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;
const MAX_DESCRIPTION = 4000;

/** Reads a function of the caller: `name`, `description` and its JSON Schema in the field `parameters`. */
export function readFunction(about: Fields, parameters = 'parameters'): ClientTool {
  const name = about.requiredText('name');
  if (!TOOL_NAME.test(name)) throw about.refusal('name', 'must have 1–64 letters, digits, `_` or `-`');
  const description = about.text('description') ?? '';
  if (description.length > MAX_DESCRIPTION) {
    throw about.refusal('description', `must have at most ${MAX_DESCRIPTION} characters`);
  }
  const schema = about.any(parameters) ?? { type: 'object', properties: {} };
  // Checks that it is an object.
  Fields.of(schema, about.nameOf(parameters));
  return { name, description, inputSchema: schema as ClientTool['inputSchema'] };
}
