import type { AgencyDraft, AgentCode, WrittenCode } from './agency-draft.ts';
import { loadTool, type PreparedTool, ToolRefused } from './load-tool.ts';
import type { RefusedCode } from './refused-code.ts';
import { type CompileSchema, readSchema, SchemaRefused, type ToolSchema } from './tool-schema.ts';

/** Code that was checked, with its schemas. */
export interface PreparedCode extends AgentCode {
  readonly tools: ReadonlyMap<string, PreparedTool | RefusedCode>;
  readonly output?: ToolSchema | RefusedCode;
}

/** Checks the code of all agents, in the process that has it. What cannot be used is refused with the reason. */
export async function prepareCode(
  draft: AgencyDraft<WrittenCode>,
  compile: CompileSchema,
): Promise<AgencyDraft<PreparedCode>> {
  const agents = [];
  for (const agent of draft.agents) agents.push({ ...agent, code: await prepareAgent(agent.code, compile) });
  return { ...draft, agents };
}

async function prepareAgent(
  { tools: written, output, ...code }: WrittenCode,
  compile: CompileSchema,
): Promise<PreparedCode> {
  const tools = new Map<string, PreparedTool | RefusedCode>();
  for (const [name, tool] of written) tools.set(name, await prepareTool(name, tool, compile));
  return { ...code, tools, ...(output === undefined ? {} : { output: await prepareSchema(output, compile) }) };
}

export async function prepareTool(
  name: string,
  given: object,
  compile: CompileSchema,
): Promise<PreparedTool | RefusedCode> {
  try {
    return await loadTool(name, given, compile);
  } catch (error) {
    if (error instanceof ToolRefused) return { refused: error.message };
    throw error;
  }
}

export async function prepareSchema(given: unknown, compile: CompileSchema): Promise<ToolSchema | RefusedCode> {
  try {
    return await readSchema(given, compile);
  } catch (error) {
    if (error instanceof SchemaRefused) return refusedSchema(error);
    throw error;
  }
}

/** The first problem is enough: the others often follow from it. */
export function refusedSchema({ message }: SchemaRefused): RefusedCode {
  const [first = ''] = message.replace('schema is invalid: ', '').split(', ');
  return { refused: `${first.replace(/\.$/, '')}.` };
}
