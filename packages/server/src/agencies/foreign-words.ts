/* Fields of other frameworks, and what to write here instead. Keys are in lower case without `_` and `-`. */

const FLOWS = 'write `flows`, such as `- A -> B` (A asks B) or `- A => B` (A hands over to B)';
const INSTRUCTIONS = 'write it in `instructions`';
const INTO_INSTRUCTIONS = 'add its text to `instructions`';
const SETTINGS = (field: string) => `write it as \`settings: { ${field}: … }\``;
const LIMITS = (field: string) => `write it as \`limits: { ${field}: … }\` of the agency`;
const NOTHING = 'Runwire has no such field; remove it';
const MODEL = 'write `model: provider/model`';
const MCP = 'write `mcp`';
const OUTPUT = 'write `output` with a JSON Schema, or the path of one';

/** Of an agency. */
const agency: Readonly<Record<string, string>> = {
  agencychart: FLOWS,
  communicationflows: FLOWS,
  handoffs: FLOWS,
  subagents: 'list the agents in `agents`, and say who talks to whom in `flows`',
  rootagent: 'write `entryPoints` with the name of the agent',
  entryagent: 'write `entryPoints` with the name of the agent',
  sharedinstruction: 'write `sharedInstructions`',
  globalinstruction: 'write `sharedInstructions`',
  agencymanifesto: 'write `sharedInstructions`',
  manifesto: 'write `sharedInstructions`',
  systemprompt: 'write `sharedInstructions` for all agents, or `instructions` for one agent',
  instructions: 'write `sharedInstructions` for all agents, or `instructions` for one agent',
  mcpservers: MCP,
  toolsfolder: 'write `toolFiles` with the paths of files whose exports are tools',
  tools: 'write `toolFiles` for the files, and `tools` of an agent for the names',
  crew: 'list the agents in `agents`',
  tasks: 'describe the work in `instructions` of the agents, and the order in `flows`',
  process: 'say who talks to whom in `flows`',
  managerllm: MODEL,
  llm: MODEL,
  models: 'write `model`, and up to three others in `fallback`',
  maxturns: LIMITS('steps'),
  maxiter: LIMITS('steps'),
  maxsteps: LIMITS('steps'),
  recursionlimit: LIMITS('steps'),
  maxdepth: LIMITS('depth'),
  verbose: NOTHING,
  memory: 'a chat always has its memory; remove it',
  planning: NOTHING,
  version: NOTHING,
  description: 'an agency has none: write it at the agents',
};

/** Of an agent. */
const agent: Readonly<Record<string, string>> = {
  role: 'write `name` and `description`',
  goal: INTO_INSTRUCTIONS,
  backstory: INTO_INSTRUCTIONS,
  expectedoutput: INTO_INSTRUCTIONS,
  systemprompt: INSTRUCTIONS,
  systemmessage: INSTRUCTIONS,
  system: INSTRUCTIONS,
  prompt: INSTRUCTIONS,
  instruction: INSTRUCTIONS,
  staticinstruction: INSTRUCTIONS,
  globalinstruction: 'write `sharedInstructions` of the agency',
  handoffdescription: 'write `description`',
  handoffs: `${FLOWS}, beside \`agents\``,
  communicationflows: `${FLOWS}, beside \`agents\``,
  subagents: 'list the agents in `agents` of the agency, and say who talks to whom in `flows`',
  allowdelegation: `${FLOWS}, beside \`agents\``,
  canhandoff: `${FLOWS}, beside \`agents\``,
  flows: 'write `flows` beside `agents`, not in an agent',
  entrypoints: 'write `entryPoints` beside `agents`, not in an agent',
  mcpservers: `${MCP} with the names of servers`,
  llm: MODEL,
  modelname: MODEL,
  functioncallingllm: MODEL,
  temperature: SETTINGS('temperature'),
  topp: SETTINGS('topP'),
  maxtokens: SETTINGS('maxOutputTokens'),
  maxoutputtokens: SETTINGS('maxOutputTokens'),
  maxcompletiontokens: SETTINGS('maxOutputTokens'),
  maxprompttokens: NOTHING,
  toolchoice: SETTINGS('toolChoice'),
  paralleltoolcalls: SETTINGS('parallelToolCalls'),
  modelsettings: 'write `settings`',
  generatecontentconfig: 'write `settings`',
  reasoningeffort: 'write it as `reasoning: { effort: … }`',
  thinking: 'write it as `reasoning: { effort: … }`',
  outputtype: OUTPUT,
  outputschema: OUTPUT,
  outputjson: OUTPUT,
  outputpydantic: OUTPUT,
  outputkey: OUTPUT,
  responseformat: OUTPUT,
  conversationstarters: 'write `starters`',
  suggestedprompts: 'write `starters`',
  filesfolder: 'upload the files to the integration; `files: true` lets the agent read them',
  schemasfolder: NOTHING,
  toolsfolder: 'write `toolFiles` of the agency',
  maxiter: LIMITS('steps'),
  maxturns: LIMITS('steps'),
  maxretrylimit: NOTHING,
  inputguardrails: NOTHING,
  outputguardrails: NOTHING,
  verbose: NOTHING,
  memory: 'a chat always has its memory; remove it',
  cache: NOTHING,
  color: NOTHING,
  permissionmode: NOTHING,
  disallowedtools: 'list in `tools` those that the agent may use',
  hooks: NOTHING,
  isolation: NOTHING,
  background: NOTHING,
};

const settings: Readonly<Record<string, string>> = {
  maxtokens: 'write `maxOutputTokens`',
  maxcompletiontokens: 'write `maxOutputTokens`',
  reasoning: 'write `reasoning` beside `settings`',
  reasoningeffort: 'write `reasoning: { effort: … }` beside `settings`',
  store: NOTHING,
};

const limits: Readonly<Record<string, string>> = {
  maxturns: 'write `steps`',
  maxsteps: 'write `steps`',
  maxdepth: 'write `depth`',
  maxhandoffs: 'write `handOffs`',
};

const flow: Readonly<Record<string, string>> = {
  source: 'write `from`',
  sender: 'write `from`',
  target: 'write `to`',
  recipient: 'write `to`',
  receiver: 'write `to`',
  type: 'write `kind: delegate` or `kind: handoff`',
};

const words: Readonly<Record<string, Readonly<Record<string, string>>>> = { agency, agent, settings, limits, flow };

/** Returns what to write instead of a field of another framework, or null. `part` is a part of an agency. */
export function ownWord(part: string, field: string): string | null {
  const table = words[part];
  const key = field.replaceAll(/[_-]/g, '').toLowerCase();
  return table !== undefined && Object.hasOwn(table, key) ? (table[key] ?? null) : null;
}
