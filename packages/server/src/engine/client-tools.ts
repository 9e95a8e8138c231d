import { linearCheck } from '@runwire/lib/linear-check.ts';
import { withObjectType } from '@runwire/lib/object-type.ts';
import { alwaysAsks, onlyByCaller, type Tool } from '../agent/ports.ts';
import type { ClientTool } from '../domain/question/client-tool.ts';

/** The tools that the request names, in the form that the loop uses. A call always asks, and is never made here. */
export function clientTools(tools: readonly ClientTool[]): readonly Tool[] {
  return tools.map(({ name, description, inputSchema }) => {
    const checkInput = linearCheck(inputSchema);
    return {
      name,
      description,
      inputSchema: withObjectType(inputSchema) ?? inputSchema,
      repeatable: false,
      asks: alwaysAsks('tool', checkInput),
      checkInput,
      call: onlyByCaller(checkInput),
    };
  });
}
