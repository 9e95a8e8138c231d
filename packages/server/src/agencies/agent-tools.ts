import { FILE_TOOLS } from '../agent/files-port.ts';
import type { Tool } from '../agent/ports.ts';
import { SANDBOX_TOOLS } from '../agent/workspace-port.ts';
import { handOffName } from '../domain/run/hand-off-name.ts';
import { comparedFields, nearestField } from '../domain/unknown-fields.ts';
import type { AgentCode, AgentDraft } from './agency-draft.ts';
import { type Faults, inWords } from './fault.ts';
import { ownTool } from './foreign-words.ts';
import type { BuiltInTool, LoadedFlow } from './loaded-agency.ts';

const BUILT_IN: readonly BuiltInTool[] = [...FILE_TOOLS, ...SANDBOX_TOOLS, 'web_search'];

/** Names in agent files of Claude. */
const CLAUDE_NAMES: Readonly<Record<string, string>> = {
  Read: 'read_file',
  Grep: 'search_files',
  Glob: 'list_files',
  LS: 'list_files',
  Write: 'write_file',
  Bash: 'run_command',
  WebSearch: 'web_search',
};

/** Our name of a built-in tool, if it is written with that of Claude's agent files. */
export function builtInName(written: string): string {
  return Object.hasOwn(CLAUDE_NAMES, written) ? (CLAUDE_NAMES[written] ?? written) : written;
}

export interface ToolSources {
  readonly id: string;
  /** The tools of `toolFiles`, by their names. */
  readonly fileTools: AgentCode['tools'];
  /** False if this installation has no sandbox. */
  readonly hasSandbox: boolean;
}

export interface AgentTools {
  readonly tools: readonly Tool[];
  readonly builtIn: readonly BuiltInTool[];
}

/** Finds the tools that the agent names. If it names built-in file or sandbox tools, it has only those. */
export function agentTools(
  agent: AgentDraft,
  { id, fileTools, hasSandbox }: ToolSources,
  flows: readonly LoadedFlow[],
  faults: Faults,
): AgentTools {
  const { value, location, path, code } = agent;
  const tools: Tool[] = [];
  const named = new Set<string>();
  const add = (index: number, message: string) => faults.add(location, [...path, 'tools', index], message);
  for (const [index, written] of (value.tools ?? []).entries()) {
    const name = builtInName(written);
    const tool = code.tools.get(written) ?? fileTools.get(written);
    if (tool !== undefined) {
      if ('call' in tool) tools.push(tool);
      else add(index, `The tool \`${written}\` of agent \`${value.name}\` of agency \`${id}\` ${tool.refused}`);
    } else if (isSandboxTool(name) && !hasSandbox) add(index, `\`${written}\` ${NO_SANDBOX}`);
    else if (isBuiltIn(name)) named.add(name);
    else add(index, unknownTool(written, fileTools));
  }
  const namesOwn = [...FILE_TOOLS, ...SANDBOX_TOOLS].some((name) => named.has(name));
  if (value.files ?? !namesOwn) for (const name of FILE_TOOLS) named.add(name);
  if (value.sandbox === true) {
    if (!hasSandbox) faults.add(location, [...path, 'sandbox'], `\`sandbox\` ${NO_SANDBOX}`, 'key');
    for (const name of SANDBOX_TOOLS) named.add(name);
  }
  for (const { name } of tools) {
    const index = value.tools?.indexOf(name) ?? 0;
    const where = `The tool \`${name}\` of agent \`${value.name}\` of agency \`${id}\` has the name of`;
    if (named.has(name)) {
      const field = isSandboxTool(name) ? 'sandbox' : 'files';
      const remedy = name === 'web_search' ? 'rename it' : `rename it, or set \`${field}: false\``;
      add(index, `${where} a built-in tool; ${remedy}.`);
    } else if (flowToolNames(flows).includes(name)) add(index, `${where} a tool of its flows; rename it.`);
  }
  // Providers do not let a request choose their own tools by name.
  const choices = [...named].filter((name) => name !== 'web_search');
  checkChoice(agent, [...tools.map(({ name }) => name), ...choices, ...flowToolNames(flows)], faults);
  return { tools, builtIn: BUILT_IN.filter((name) => named.has(name)) };
}

const NO_SANDBOX = 'needs a sandbox, and this server has none; remove it, or change RUNWIRE_SANDBOX.';

const isSandboxTool = (name: string): boolean => SANDBOX_TOOLS.some((known) => known === name);

const isBuiltIn = (name: string): name is BuiltInTool => BUILT_IN.some((known) => known === name);

/** The tools that flows give to an agent. */
export function flowToolNames(flows: readonly LoadedFlow[]): readonly string[] {
  return flows.map(({ kind, to }) => (kind === 'delegate' ? 'send_message' : handOffName(to)));
}

function unknownTool(name: string, fileTools: ToolSources['fileTools']): string {
  const own = ownTool(name);
  if (own !== null) return `There is no tool \`${name}\`; ${own}.`;
  const ofFiles = [...fileTools].flatMap(([name, tool]) => ('call' in tool ? [name] : []));
  const known = [...ofFiles, ...BUILT_IN];
  const near = nearestField(name, comparedFields(known));
  if (near !== null) return `There is no tool \`${name}\`; did you mean \`${near}\`?`;
  if (ofFiles.length > 0) return `There is no tool \`${name}\`; write ${inWords(known)}.`;
  return `There is no tool \`${name}\`; export it from a file that \`toolFiles\` lists, or write ${inWords(BUILT_IN)}.`;
}

const CHOICES = ['auto', 'none', 'required'];

function checkChoice({ value, location, path }: AgentDraft, tools: readonly string[], faults: Faults): void {
  const choice = value.settings?.toolChoice;
  if (choice === undefined || CHOICES.includes(choice) || tools.includes(choice)) return;
  const sentence = `\`toolChoice\` is \`${choice}\`; write ${inWords(CHOICES)}, or the name of a tool of this agent.`;
  faults.add(location, [...path, 'settings', 'toolChoice'], sentence);
}
