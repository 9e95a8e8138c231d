import { hash } from 'node:crypto';

type Json = Readonly<Record<string, unknown>>;

interface Message {
  readonly role: string;
  readonly content: readonly Json[];
}

export interface MessagesRequest extends Json {
  readonly model: string;
  readonly messages: readonly Message[];
  readonly system?: string;
  readonly tools?: readonly Json[];
  readonly thinking?: Json;
}

/** A rule of the Messages API. `refusal` returns the error's message, or null. */
export interface MessagesRule {
  readonly id: string;
  /** The page, the file or the reported answer of the API that shows the rule. */
  readonly source: string;
  readonly refusal: (request: MessagesRequest, issued: IssuedThinking) => string | null;
}

const SDK = '@anthropic-ai/sdk 1.8.0, resources/messages/messages.d.ts';
const DOCS = 'platform.claude.com/docs/en';
const reported = (...issues: readonly string[]) => `answer of the API, reported in ${issues.join(', ')}`;

/** What a thinking block is bound to, by its signature. */
export class IssuedThinking {
  readonly #bindings = new Map<string, string>();

  /** Returns the signature of thinking after these blocks of the answer to the request. */
  sign(request: MessagesRequest, before: readonly Json[], thinking: string): string {
    const signature = hash('sha256', `${this.#bindings.size}/${thinking}`).slice(0, 24);
    this.#bindings.set(signature, binding(request, request.messages, before, thinking));
    return signature;
  }

  /** Returns the data of redacted thinking. */
  redact(request: MessagesRequest, before: readonly Json[]): string {
    const data = `redacted-${this.#bindings.size}`;
    this.#bindings.set(data, binding(request, request.messages, before, data));
    return data;
  }

  problem(request: MessagesRequest, index: number, at: number): string | null {
    const content = request.messages[index]?.content ?? [];
    const block = content[at] ?? {};
    const known = this.#bindings.get(String(block.signature ?? block.data));
    const place = `messages.${index}.content.${at}`;
    if (known === undefined) return `${place}: Invalid \`signature\` in \`thinking\` block`;
    const text = String(block.thinking ?? block.data);
    const now = binding(request, request.messages.slice(0, index), content.slice(0, at), text);
    return known === now ? null : `${place}: thinking blocks cannot be modified, moved or used with another model`;
  }
}

function binding(
  request: MessagesRequest,
  messages: readonly Message[],
  before: readonly Json[],
  text: string,
): string {
  const blocks = before.filter((block) => block.type !== 'text' || String(block.text).trim() !== '');
  return hash('sha256', JSON.stringify([request.model, request.system, request.tools, messages, blocks, text]));
}

const isThinkingBlock = ({ type }: Json) => type === 'thinking' || type === 'redacted_thinking';
const isOn = ({ thinking }: MessagesRequest) => thinking !== undefined && thinking.type !== 'disabled';
const isAdaptive = (model: string) => !/claude-((sonnet|opus|haiku)-4-5|opus-4-1|(sonnet|opus)-4-2|3)/.test(model);
const refusesSampling = (model: string) => isAdaptive(model) && !/-4-6/.test(model);
const alwaysThinks = (model: string) => /claude-((sonnet|opus)-5-5|(fable|mythos)-5)/.test(model);
/** A request that does not mention thinking gets it. */
export const thinksByDefault = (model: string) => /claude-[a-z]+-[5-9]/.test(model);
const findFirst = <T>(all: readonly T[], find: (one: T, index: number) => string | null): string | null => {
  for (const [index, one] of all.entries()) {
    const found = find(one, index);
    if (found !== null) return found;
  }
  return null;
};
const eachBlock = (request: MessagesRequest, find: (block: Json, index: number, at: number) => string | null) =>
  findFirst(request.messages, ({ content }, index) => findFirst(content, (block, at) => find(block, index, at)));
const getIds = (message: Message | undefined, type: string, field: string) =>
  (message?.content ?? []).flatMap((block) => (block.type === type ? [String(block[field])] : []));

export const MESSAGES_RULES: readonly MessagesRule[] = [
  {
    id: 'max-tokens',
    source: `${SDK}, max_tokens is required`,
    refusal: ({ max_tokens: most }) =>
      Number.isInteger(most) && Number(most) > 0 ? null : 'max_tokens: Field required',
  },
  {
    id: 'user-first',
    source: reported('livekit/agents#669'),
    refusal: ({ messages }) =>
      messages[0]?.role === 'user' ? null : 'messages: first message must use the "user" role',
  },
  {
    id: 'user-last',
    source: `${reported('anomalyco/opencode#13768', 'vercel/ai#12296')}; older models accept it`,
    refusal: ({ messages }) =>
      messages.at(-1)?.role === 'user' ? null : 'This model does not support assistant message prefill.',
  },
  {
    id: 'alternating-roles',
    source: `${reported('microsoft/autogen#2884')}; since 2024 the API joins them, other platforms refuse them`,
    refusal: ({ messages }) =>
      findFirst(messages, ({ role }, index) =>
        role === messages[index - 1]?.role
          ? `messages.${index}: roles must alternate between "user" and "assistant"`
          : null,
      ),
  },
  {
    id: 'no-empty-message',
    source: reported('anthropics/claude-code#3196'),
    refusal: ({ messages }) =>
      findFirst(messages, ({ content }, index) =>
        content.length === 0 ? `messages.${index}: all messages must have non-empty content` : null,
      ),
  },
  {
    id: 'no-blank-text',
    source: reported('anthropics/claude-code#23440'),
    refusal: (request) =>
      eachBlock(request, (block, index, at) => {
        const text = block.type === 'text' ? block.text : block.type === 'tool_result' ? (block.content ?? 'x') : 'x';
        if (typeof text !== 'string' || text.trim() !== '') return null;
        return `messages.${index}.content.${at}: text content blocks must contain non-whitespace text`;
      }),
  },
  {
    id: 'results-complete',
    source: reported('anthropics/claude-code#7929'),
    refusal: ({ messages }) =>
      findFirst(messages, (message, index) => {
        const calls = getIds(message, 'tool_use', 'id');
        const results = getIds(messages[index + 1], 'tool_result', 'tool_use_id');
        if (calls.length > 0 && index === messages.length - 1) return null;
        return calls.every((id) => results.includes(id))
          ? null
          : `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after`;
      }),
  },
  {
    id: 'results-of-calls',
    source: reported('tghamm/Anthropic.SDK#184'),
    refusal: ({ messages }) =>
      findFirst(messages, (message, index) => {
        const calls = getIds(messages[index - 1], 'tool_use', 'id');
        const results = getIds(message, 'tool_result', 'tool_use_id');
        const isRight = results.every((id) => calls.includes(id)) && new Set(results).size === results.length;
        return isRight ? null : `messages.${index}: unexpected \`tool_use_id\` found in \`tool_result\` blocks`;
      }),
  },
  {
    id: 'results-first',
    source: `${DOCS}/agents-and-tools/tool-use/handle-tool-calls; ${reported('anthropics/anthropic-sdk-typescript#653')}`,
    refusal: ({ messages }) =>
      findFirst(messages, ({ content }, index) => {
        const last = content.findLastIndex(({ type }) => type === 'tool_result');
        const first = content.findIndex(({ type }) => type !== 'tool_result');
        return first !== -1 && first < last ? `messages.${index}: \`tool_result\` blocks must come first` : null;
      }),
  },
  {
    id: 'unique-calls',
    source: reported('trycua/cua#524', 'anomalyco/opencode#1279'),
    refusal: ({ messages }) => {
      const ids = messages.flatMap((message) => getIds(message, 'tool_use', 'id'));
      return new Set(ids).size === ids.length ? null : '`tool_use` ids must be unique';
    },
  },
  {
    id: 'call-names',
    source: reported('maximhq/bifrost#5097', 'QwenLM/qwen-code#8160'),
    refusal: (request) =>
      eachBlock(request, ({ type, id, name, input }, index, at) => {
        if (type !== 'tool_use') return null;
        const isRight = /^[a-zA-Z0-9_-]+$/.test(String(id)) && /^[a-zA-Z0-9_-]{1,128}$/.test(String(name));
        const isInput = typeof input === 'object' && input !== null && !Array.isArray(input);
        return isRight && isInput ? null : `messages.${index}.content.${at}.tool_use: String should match pattern`;
      }),
  },
  {
    id: 'declared-tools',
    source: `${reported('anthropics/anthropic-sdk-python#494')}; not since 2025-02-27, says #849, but on other platforms`,
    refusal: (request) => {
      const hasBlocks = request.messages.some(({ content }) =>
        content.some(({ type }) => String(type).startsWith('tool_')),
      );
      return hasBlocks && (request.tools ?? []).length === 0
        ? 'Requests which include `tool_use` or `tool_result` blocks must define tools.'
        : null;
    },
  },
  {
    id: 'object-schemas',
    source: `${SDK}, Tool.InputSchema; ${reported('anthropics/claude-code#27337')}`,
    refusal: ({ tools = [] }) =>
      findFirst(tools, ({ input_schema: schema }, index) => {
        const fields = schema as Json;
        const isRight = fields.type === 'object' && !('anyOf' in fields || 'oneOf' in fields || 'allOf' in fields);
        return isRight ? null : `tools.${index}.input_schema: input_schema does not support oneOf, allOf, or anyOf`;
      }),
  },
  {
    id: 'no-blocks-while-off',
    source: reported('tailcallhq/forgecode#1853'),
    refusal: (request) => {
      const { messages, model, thinking } = request;
      const isOff = thinking === undefined ? !thinksByDefault(model) : thinking.type === 'disabled';
      const last = messages.findLast(({ role }) => role === 'assistant');
      return isOff && last?.content.some(isThinkingBlock) === true
        ? 'When thinking is disabled, an `assistant` message in the final position cannot contain `thinking`.'
        : null;
    },
  },
  {
    id: 'signed-thinking',
    source: `${DOCS}/build-with-claude/preserved-thinking; ${reported('anomalyco/opencode#48637', 'vybestack/llxprt-code#2335')}`,
    refusal: (request, issued) =>
      eachBlock(request, (block, index, at) => (isThinkingBlock(block) ? issued.problem(request, index, at) : null)),
  },
  {
    id: 'turn-begins-with-thinking',
    source: reported('anomalyco/opencode#3077'),
    refusal: (request) => {
      const { messages, thinking } = request;
      if (thinking?.type !== 'enabled') return null;
      const user = messages.findLastIndex(
        ({ role, content }) => role === 'user' && content.some(({ type }) => type !== 'tool_result'),
      );
      const first = messages[user + 1]?.content[0];
      return first === undefined || isThinkingBlock(first)
        ? null
        : 'Expected `thinking` or `redacted_thinking`: a final `assistant` message must start with a thinking block';
    },
  },
  {
    id: 'no-sampling',
    source: `${DOCS}/build-with-claude/thinking, sampling parameters; @ai-sdk/anthropic 4.0.102, samplingParameters`,
    refusal: (request) => {
      const asked = request.temperature !== undefined || request.top_p !== undefined;
      return asked && (refusesSampling(request.model) || isOn(request))
        ? '`temperature` and `top_p` are not supported by this model, or with thinking'
        : null;
    },
  },
  {
    id: 'budgets',
    source: `${SDK}, ThinkingConfigEnabled; ${reported('themaximalist/llm.js#30', 'Kilo-Org/kilocode#11194')}`,
    refusal: ({ model, thinking, max_tokens: most }) => {
      if (thinking?.type !== 'enabled') return null;
      const budget = Number(thinking.budget_tokens);
      return !refusesSampling(model) && budget >= 1024 && budget < Number(most)
        ? null
        : 'thinking.enabled.budget_tokens: not supported, below 1024, or not less than `max_tokens`';
    },
  },
  {
    id: 'adaptive',
    source: reported('mnfst/llm-gateway#1928'),
    refusal: ({ model, thinking }) =>
      thinking?.type === 'adaptive' && !isAdaptive(model) ? 'thinking: adaptive is not supported by this model' : null,
  },
  {
    id: 'cannot-stop-thinking',
    source: reported('cline/cline#13203', 'ex-machina-co/opencode-anthropic-auth#159'),
    refusal: ({ model, thinking }) =>
      thinking?.type === 'disabled' && alwaysThinks(model) ? 'thinking cannot be disabled for this model' : null,
  },
  {
    id: 'no-forced-calls',
    source: `${reported('mastra-ai/mastra#7507', 'Alcova-AI/adk-anthropic-go#23')}; @ai-sdk/anthropic 4.0.102, forcedToolUse`,
    refusal: (request) => {
      const { type } = (request.tool_choice ?? {}) as Json;
      return (type === 'any' || type === 'tool') && (isOn(request) || alwaysThinks(request.model))
        ? 'Thinking may not be enabled when tool_choice forces tool use.'
        : null;
    },
  },
];

/** Returns the answer of the API to a request that breaks a rule, or null. */
export function messagesRefusal(request: MessagesRequest, issued: IssuedThinking) {
  for (const { id, refusal } of MESSAGES_RULES) {
    const message = refusal(request, issued);
    if (message !== null) return { id, body: { type: 'error', error: { type: 'invalid_request_error', message } } };
  }
  return null;
}
