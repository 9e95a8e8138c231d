import type { Tool as ListedTool } from '@modelcontextprotocol/client';
import type { McpServer } from '../agent/mcp-port.ts';

const MAX_DEPTH = 100;

/** A tool of a server, by the server's own name. */
export interface ServerTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly isReadOnly: boolean;
}

/** The tools of a server at one time. The object is replaced only if the tools have changed. */
export interface ServerTools {
  readonly list: readonly ServerTool[];
  /** To compare with a later list. */
  readonly text: string;
}

/**
 * Returns `known` if the tools are the same. Tools that only run as tasks are left out, and tools whose schema is so deep that
 * code which reads it would exceed the stack.
 */
export function readTools(listed: readonly ListedTool[], known: ServerTools | null): ServerTools {
  const list = listed
    .filter(({ execution, inputSchema }) => execution?.taskSupport !== 'required' && !isDeep(inputSchema, 0))
    .map(
      ({ name, title, description, inputSchema, annotations }): ServerTool => ({
        name,
        description: description ?? title ?? annotations?.title ?? '',
        // Some providers refuse an object without `properties`.
        inputSchema: { ...inputSchema, properties: inputSchema.properties ?? {} },
        isReadOnly: annotations?.readOnlyHint === true,
      }),
    );
  const text = JSON.stringify(list);
  return known?.text === text ? known : { list, text };
}

function isDeep(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return depth >= MAX_DEPTH || Object.values(value).some((inner) => isDeep(inner, depth + 1));
}

/** The tools that the agency selects. */
export function selectedTools({ list }: ServerTools, { tools }: McpServer): readonly ServerTool[] {
  return tools === null ? list : list.filter(({ name }) => tools.includes(name));
}
