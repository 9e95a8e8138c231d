import type { LeftOutTool } from './tool-problem.ts';
import type { ListedTool } from './tool-result.ts';

/** How many left-out tools a sentence names. */
const MAX_NAMED = 10;

/** A tool of a server, by the server's own name. */
export interface ServerTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly isReadOnly: boolean;
}

/** A server's tools at one time. The object is replaced only if the tools have changed. */
export interface ServerTools {
  readonly list: readonly ServerTool[];
  /** The tools that cannot be used. */
  readonly leftOut: readonly LeftOutTool[];
  /** To compare with a later list. */
  readonly text: string;
}

/** Returns `known` if the tools are the same. Tools that only run as tasks are left out. */
export function readTools(
  listed: readonly ListedTool[],
  leftOut: readonly LeftOutTool[],
  known: ServerTools | null,
): ServerTools {
  const list = listed
    .filter(({ execution }) => execution?.taskSupport !== 'required')
    .map(
      ({ name, title, description, inputSchema, annotations }): ServerTool => ({
        name,
        description: description ?? title ?? annotations?.title ?? '',
        // Some providers refuse an object without `properties`.
        inputSchema: { ...inputSchema, properties: inputSchema.properties ?? {} },
        isReadOnly: annotations?.readOnlyHint === true,
      }),
    );
  const text = JSON.stringify([list, leftOut]);
  return known?.text === text ? known : { list, leftOut, text };
}

/** Which tools are used, by the server's names. */
export interface ToolSelection {
  /** Null if all are. */
  readonly tools: readonly string[] | null;
}

/** The tools that the selection contains. */
export function selectedTools({ list }: ServerTools, { tools }: ToolSelection): readonly ServerTool[] {
  return tools === null ? list : list.filter(({ name }) => tools.includes(name));
}

/** Names the tools that are selected and cannot be used, in one sentence. Null if there are none. */
export function leftOutSentence({ leftOut }: ServerTools, { tools }: ToolSelection): string | null {
  const missing = leftOut.filter(({ name }) => tools === null || tools.includes(name));
  if (missing.length === 0) return null;
  const named = missing.slice(0, MAX_NAMED).map(({ name, reason }) => `\`${name.slice(0, 64)}\` (${reason})`);
  const others = missing.length > MAX_NAMED ? ` and ${missing.length - MAX_NAMED} more` : '';
  return `Tools that are left out: ${named.join(', ')}${others}; correct them in the server.`;
}
