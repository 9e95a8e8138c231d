import type { Tool } from '../agent/ports.ts';
import type { AgencyDraft, AgentCode, RefusedCode, WrittenCode } from './agency-draft.ts';
import { loadTool, ToolRefused } from './load-tool.ts';
import { readSchema, SchemaRefused, type ToolSchema } from './tool-schema.ts';

/** Checks the code of all agents, in the process that has it. What cannot be used is refused with the reason. */
export async function prepareCode(draft: AgencyDraft<WrittenCode>): Promise<AgencyDraft> {
  const agents = [];
  for (const agent of draft.agents) agents.push({ ...agent, code: await prepareAgent(agent.code) });
  return { ...draft, agents };
}

async function prepareAgent({ tools: written, output, ...code }: WrittenCode): Promise<AgentCode> {
  const tools = new Map<string, Tool | RefusedCode>();
  for (const [name, tool] of written) tools.set(name, await prepareTool(name, tool));
  return { ...code, tools, ...(output === undefined ? {} : { output: await prepareSchema(output) }) };
}

export async function prepareTool(name: string, given: object): Promise<Tool | RefusedCode> {
  try {
    return await loadTool(name, given);
  } catch (error) {
    if (error instanceof ToolRefused) return { refused: error.message };
    throw error;
  }
}

export async function prepareSchema(given: unknown): Promise<ToolSchema | RefusedCode> {
  try {
    return await readSchema(given);
  } catch (error) {
    if (!(error instanceof SchemaRefused)) throw error;
    // The first problem is enough: the others often follow from it.
    const [first = ''] = error.message.replace('schema is invalid: ', '').split(', ');
    return { refused: `${first.replace(/\.$/, '')}.` };
  }
}
