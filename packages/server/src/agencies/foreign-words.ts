/* Fields of other frameworks, and what to write here instead. Keys are in lower case without `_` and `-`. */

const FLOWS = 'write `flows`, such as `- A -> B` (A asks B) or `- A => B` (A hands over to B)';
const INSTRUCTIONS = 'write it in `instructions`';
const INTO_INSTRUCTIONS = 'add its text to `instructions`';
const SETTINGS = (field: string) => `write it as \`settings: { ${field}: … }\``;
const LIMITS = (field: string) => `write it as \`limits: { ${field}: … }\` of the agency`;
const NOTHING = 'Runwire has nothing like it; remove it';
const MODEL = 'write `model: provider/model`';
const MCP = 'write `mcp` with the servers by their names, such as `mcp: { docs: { command: npx, args: [ … ] } }`';
const MCP_OF_AGENT = 'write `mcp` of the agency with the servers, and `mcp` of the agent with their names';
const LONG_CHATS = 'write `longChats` of the agency: `summarize` or `leave_out`';
const GUARDRAILS = 'write `guardrails` with the names of guardrails made by `defineGuardrail`';
const OUTPUT = 'write `output` with a JSON Schema, or the path of one';

const agency: Readonly<Record<string, string>> = {
  agencychart: FLOWS,
  communicationflows: FLOWS,
  handoffs: FLOWS,
  subagents: 'list the agents in `agents`, and say who talks to whom in `flows`',
  rootagent: 'write `entryPoints` with the name of the agent',
  entryagent: 'write `entryPoints` with the name of the agent',
  sharedtoolsfolder: 'write `toolFiles` with the paths of files whose exports are tools',
  sharedtools: 'write `toolFiles` for the files, and `tools` of an agent for the names',
  sharedfilesfolder: 'upload the files to the integration',
  sharedmcpservers: MCP,
  inputs: 'the caller sends them as `user_context`; write `{{user_context.x}}` in `instructions`',
  knowledge: 'upload the files to the integration, or write the text in `sharedInstructions`',
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
  respectcontextwindow: LONG_CHATS,
  eventscompactionconfig: LONG_CHATS,
  truncation: LONG_CHATS,
  planning: NOTHING,
  version: NOTHING,
  description: 'write it in the agents',
};

const agent: Readonly<Record<string, string>> = {
  role: 'write it in `instructions`, and a short form in `description`',
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
  mcpservers: MCP_OF_AGENT,
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
  inputguardrails: GUARDRAILS,
  outputguardrails: GUARDRAILS,
  guardrail: GUARDRAILS,
  verbose: NOTHING,
  memory: 'a chat always has its memory; remove it',
  respectcontextwindow: LONG_CHATS,
  truncation: LONG_CHATS,
  truncationstrategy: LONG_CHATS,
  cache: NOTHING,
  maxrpm: NOTHING,
  maxexecutiontime: 'set `maxRunSeconds` of the integration',
  stepcallback: NOTHING,
  knowledgesources: 'upload the files to the integration, or write the text in `instructions`',
  allowcodeexecution: NOTHING,
  codeexecutionmode: NOTHING,
  multimodal: NOTHING,
  injectdate: 'write `{{date}}` in `instructions`',
  dateformat: NOTHING,
  systemtemplate: INSTRUCTIONS,
  prompttemplate: INSTRUCTIONS,
  responsetemplate: INSTRUCTIONS,
  examples: INTO_INSTRUCTIONS,
  validationattempts: NOTHING,
  tooluse: NOTHING,
  toolusebehavior: NOTHING,
  resettoolchoice: NOTHING,
  mcpconfig: MCP_OF_AGENT,
  agentclass: NOTHING,
  configpath: 'write `./agents/x.md` for an agent in a file',
  planner: 'write it as `reasoning: { effort: … }`',
  includecontents: 'a delegation with `memory: none` hides earlier messages',
  disallowtransfertoparent: 'leave the hand-off out of `flows`',
  disallowtransfertopeers: 'leave the hand-off out of `flows`',
  inputschema: NOTHING,
  codeexecutor: NOTHING,
  beforeagentcallback: NOTHING,
  afteragentcallback: NOTHING,
  beforemodelcallback: NOTHING,
  aftermodelcallback: NOTHING,
  beforetoolcallback: NOTHING,
  aftertoolcallback: NOTHING,
  color: NOTHING,
  permissionmode: NOTHING,
  disallowedtools: 'list in `tools` what the agent may use',
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

/** A case of an eval file. */
const evalCase: Readonly<Record<string, string>> = {
  input: 'write `message`',
  prompt: 'write `message`',
  question: 'write `message`',
  vars: 'write `userContext`',
  context: 'write `userContext`',
  assert: 'write `expect`',
  assertions: 'write `expect`',
  expected: 'write `expect`',
  expectations: 'write `expect`',
  messages: 'write `history` for earlier turns, and `message` for the last one',
  mocks: 'write `tools`, such as `tools: { find_invoice: { output: { cents: 9900 } } }`',
  model: 'name it on the command line: `runwire evals run --model …`',
};

const words: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ...{ agency, agent, settings, limits, flow },
  case: evalCase,
};

const NO_SUCH_TOOL = 'Runwire has none like it; remove it';
const IN_A_FLOW = 'an agent reaches others by `flows`, such as `- A -> B`; remove it';
const SEARCH = 'write `web_search`';

/** Tools of other frameworks. */
const tools: Readonly<Record<string, string>> = {
  edit: NO_SUCH_TOOL,
  multiedit: NO_SUCH_TOOL,
  notebookedit: NO_SUCH_TOOL,
  notebookread: NO_SUCH_TOOL,
  webfetch: NO_SUCH_TOOL,
  todowrite: NO_SUCH_TOOL,
  todoread: NO_SUCH_TOOL,
  exitplanmode: NO_SUCH_TOOL,
  codeinterpreter: NO_SUCH_TOOL,
  codeinterpretertool: NO_SUCH_TOOL,
  task: IN_A_FLOW,
  agent: IN_A_FLOW,
  sendmessage: IN_A_FLOW,
  transfertoagent: IN_A_FLOW,
  googlesearch: SEARCH,
  websearchtool: SEARCH,
  filesearch: 'write `search_files`',
  filesearchtool: 'write `search_files`',
};

const comparable = (word: string) => word.replaceAll(/[_-]/g, '').toLowerCase();
const lookUp = (table: Readonly<Record<string, string>>, key: string) =>
  Object.hasOwn(table, key) ? (table[key] ?? null) : null;

/**
 * Returns what to write instead of a field of another framework, or null. `part` is a part of an agency. Fields of agents
 * that are written beside `agents` belong into an agent.
 */
export function ownWord(part: string, field: string): string | null {
  const table = words[part];
  if (table === undefined) return null;
  const own = lookUp(table, comparable(field));
  if (own !== null || part !== 'agency') return own;
  const ofAgent = lookUp(agent, comparable(field));
  if (ofAgent === NOTHING) return NOTHING;
  return ofAgent === null ? null : `in an agent of \`agents\`, ${ofAgent}`;
}

/** Returns what to write instead of a tool of another framework, or null. */
export function ownTool(name: string): string | null {
  if (name.startsWith('mcp__')) return `${MCP_OF_AGENT}: agents get all tools of their servers`;
  return lookUp(tools, comparable(name.replace(/\(.*$/, '')));
}

const PROVIDER_OF: readonly (readonly [RegExp, string])[] = [
  [/^(gpt|o\d|chatgpt)/, 'openai'],
  [/^claude/, 'anthropic'],
  [/^gemini/, 'google'],
  [/^grok/, 'xai'],
  [/^(mistral|magistral|codestral)/, 'mistral'],
  [/^deepseek/, 'deepseek'],
];

/** Returns what to write instead of a model without its provider, or null. */
export function ownModel(name: string): string | null {
  if (/^(sonnet|opus|haiku)$/.test(name)) {
    return 'write `inherit` (in a Markdown file), or the whole name, such as `anthropic/claude-sonnet-5`';
  }
  const provider = PROVIDER_OF.find(([begins]) => begins.test(name))?.[1];
  return provider === undefined || !/^[\x21-\x7e]+$/.test(name) ? null : `write \`${provider}/${name}\``;
}
