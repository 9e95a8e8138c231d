import { hash } from 'node:crypto';
import { isBlank } from '@runwire/lib/is-blank.ts';
import { type ClaudeModel, claudeModel } from './claude-models.ts';
import type { ModelRequest, PromptItem, StepReplay } from './model.ts';
import { objectSchema } from './object-schema.ts';
import type { PromptAttachment } from './prompt-attachment.ts';
import { isObject, type JsonObject, parsed } from './provider-failure.ts';
import type { ModelTraits } from './providers.ts';
import {
  BodyMaker,
  type BodyPrefixes,
  EarlierTexts,
  NO_EARLIER,
  type PrefixText,
  prefixBytes,
  type RequestBody,
  toolsWriter,
  withTool,
} from './request-body.ts';
import { shownMessage } from './shown-message.ts';
import { messagesSchema } from './structured-output.ts';

/*
 * Requests of the Messages protocol of Anthropic. User and assistant alternate, a message is a list of blocks, and the
 * results of the calls of one answer are first in the next user message. Blank texts are refused.
 */

/** The least that a request with a budget may name, by the protocol. */
const MIN_BUDGET_TOKENS = 1024;
const BUDGETS = { none: 0, minimal: 1024, low: 4096, medium: 10_000, high: 24_000, xhigh: 32_000, max: 48_000 };

const toolsText = toolsWriter(({ name, description, inputSchema }) => ({
  name,
  description,
  input_schema: objectSchema(inputSchema),
}));

/** The version that every model accepts. Newer ones run code on the results. */
const WEB_SEARCH = { type: 'web_search_20250305', name: 'web_search' };

export function messagesToolsText({ tools, webSearch }: ModelRequest): string {
  const text = toolsText(tools);
  return webSearch === true ? withTool(text, WEB_SEARCH) : text;
}

/** What a request depends on besides the agent and its messages. */
export interface MessagesOptions {
  readonly replays: ReadonlyMap<number, StepReplay>;
  /** The content of the assistant's turn so far, if the provider paused it. */
  readonly paused: readonly JsonObject[];
  readonly traits: ModelTraits;
  readonly prefixes: BodyPrefixes;
}

export function messagesBody(model: string, given: ModelRequest, options: MessagesOptions): RequestBody {
  const { paused, prefixes, traits } = options;
  const { request, replays } = withUserFirst(given, options.replays);
  const { maxOutputTokens } = traits;
  const rules = { ...claudeModel(model), ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }) };
  const maker = new BodyMaker();
  const isReplayed = keepsThinking(rules, request, replays);
  const hasTools = request.tools.length > 0 || request.webSearch === true;
  // Without tools the whole prompt's calls are needed.
  const earlier = hasTools ? earlierTexts.find(request) : NO_EARLIER;
  const messages = convertItems(request, earlier.items, isReplayed ? replays : NO_REPLAYS, maker);
  if (paused.length > 0) messages.push({ role: 'assistant', content: [...paused] });
  const stubs = hasTools ? [] : calledTools(messages);
  const write = () => prefixText(model, rules, request, { isReplayed, stubs });
  // Only the usual start of a request depends on the agent alone.
  const isUsual = isReplayed && stubs.length === 0;
  const start = isUsual ? prefixes.find(request, write) : prefixBytes(write());
  const texts = messages.map((message) => JSON.stringify(message));
  return maker.make(start, earlier, texts);
}

const NO_MESSAGE: PromptItem = { kind: 'user', text: '' };

/** The provider refuses messages that begin with the assistant's. A conversation that was imported may begin with a greeting. */
function withUserFirst(request: ModelRequest, replays: MessagesOptions['replays']) {
  if (request.prompt[0]?.kind === 'user') return { request, replays };
  const { prompt, earlierItems } = request;
  return {
    request: {
      ...request,
      prompt: [NO_MESSAGE, ...prompt],
      ...(earlierItems === undefined ? {} : { earlierItems: earlierItems + 1 }),
    },
    replays: new Map([...replays].map(([index, replay]) => [index + 1, replay])),
  };
}

interface PromptForm {
  readonly isReplayed: boolean;
  /** Declared for an agent's calls without tools. */
  readonly stubs: readonly JsonObject[];
}

function prefixText(
  model: string,
  rules: ClaudeModel,
  request: ModelRequest,
  { isReplayed, stubs }: PromptForm,
): PrefixText {
  const thinking = isReplayed ? getThinking(rules, request) : {};
  const isThinking = 'thinking' in thinking && thinking.thinking.type !== 'disabled';
  return {
    members: {
      model,
      max_tokens: maxTokens(rules, request, thinking),
      ...(isBlank(request.instructions) ? {} : { system: request.instructions }),
      ...thinking,
      ...outputConfig(thinking, request),
      ...sampling(rules, request, isThinking),
      ...(stubs.length > 0 ? { tool_choice: { type: 'none' } } : toolChoice(rules, request, isThinking)),
      cache_control: { type: 'ephemeral' },
      stream: true,
    },
    toolsText: stubs.length > 0 ? JSON.stringify(stubs) : messagesToolsText(request),
    list: 'messages',
  };
}

/**
 * With a budget, the provider requires that a turn whose calls were just executed begins with its thinking. Returns false
 * if it cannot: then this request is made without thinking.
 */
function keepsThinking(
  { thinking }: ClaudeModel,
  { prompt }: ModelRequest,
  replays: ReadonlyMap<number, StepReplay>,
): boolean {
  if (thinking === 'adaptive' || prompt.at(-1)?.kind !== 'tool_output') return true;
  const turnFrom = prompt.findLastIndex(({ kind }) => kind === 'user') + 1;
  const [first] = (replays.get(turnFrom)?.replay.body ?? []) as readonly JsonObject[];
  return first?.type === 'thinking' || first?.type === 'redacted_thinking';
}

interface Thinking {
  readonly thinking: { readonly type: string; readonly budget_tokens?: number; readonly display?: string };
}

function getThinking(rules: ClaudeModel, { reasoning }: ModelRequest): Partial<Thinking> & JsonObject {
  if (reasoning?.effort === undefined && reasoning?.summary === undefined) return {};
  const { effort } = reasoning;
  if (effort === 'none') {
    const { leastThinking } = rules;
    return leastThinking === null ? { output_config: { effort: 'low' } } : { thinking: { type: leastThinking } };
  }
  if (rules.thinking === 'budget') {
    return { thinking: { type: 'enabled', budget_tokens: getBudget(rules, BUDGETS[effort ?? 'medium']) } };
  }
  const thinking = { type: 'adaptive', display: 'summarized' };
  if (effort === undefined) return { thinking };
  const accepted = effort === 'minimal' ? 'low' : effort === 'xhigh' && !rules.takesXhigh ? 'high' : effort;
  return { thinking, output_config: { effort: accepted } };
}

/** The answer's format is beside the effort. */
function outputConfig({ output_config: config }: JsonObject, { output }: ModelRequest): JsonObject {
  const schema = output === undefined ? null : messagesSchema(output);
  if (schema === null) return {};
  return { output_config: { ...(isObject(config) ? config : {}), format: { type: 'json_schema', schema } } };
}

/** Leaves half of the model's limit for the answer. */
function getBudget({ maxOutputTokens }: ClaudeModel, budget: number): number {
  return Math.max(MIN_BUDGET_TOKENS, Math.min(budget, maxOutputTokens / 2));
}

/** A budget is part of `max_tokens`; an agent's `maxOutputTokens` is about the answer. */
function maxTokens(
  { maxOutputTokens: most }: ClaudeModel,
  { settings }: ModelRequest,
  { thinking }: Partial<Thinking>,
) {
  const asked = settings?.maxOutputTokens;
  return asked === undefined ? most : Math.min(most, asked + (thinking?.budget_tokens ?? 0));
}

/** Models that accept these values refuse them with thinking, and refuse both together. */
function sampling({ takesSampling }: ClaudeModel, { settings }: ModelRequest, isThinking: boolean): JsonObject {
  if (!takesSampling || isThinking) return {};
  const { temperature, topP } = settings ?? {};
  if (temperature !== undefined) return { temperature: Math.min(1, Math.max(0, temperature)) };
  return topP === undefined ? {} : { top_p: topP };
}

function toolChoice(rules: ClaudeModel, request: ModelRequest, isThinking: boolean): JsonObject {
  const { settings, tools, webSearch } = request;
  const { toolChoice: choice = 'auto', parallelToolCalls } = settings ?? {};
  if (tools.length === 0 && webSearch !== true) return {};
  if (choice === 'none') return { tool_choice: { type: 'none' } };
  const single = parallelToolCalls === false ? { disable_parallel_tool_use: true } : {};
  // A call cannot be required while the model thinks.
  const mayForce = rules.takesForcedCalls && !isThinking;
  if (mayForce && choice === 'required') return { tool_choice: { type: 'any', ...single } };
  if (mayForce && tools.some(({ name }) => name === choice)) {
    return { tool_choice: { type: 'tool', name: choice, ...single } };
  }
  return parallelToolCalls === false ? { tool_choice: { type: 'auto', ...single } } : {};
}

interface Message {
  readonly role: 'user' | 'assistant';
  readonly content: JsonObject[];
}

type ToolOutput = Extract<PromptItem, { kind: 'tool_output' }>;

const NO_REPLAYS: ReadonlyMap<number, StepReplay> = new Map();

const earlierTexts = new EarlierTexts(
  (prompt) => convertItems({ prompt }, 0, NO_REPLAYS, new BodyMaker()).map((message) => JSON.stringify(message)),
  (item) => item.kind === 'assistant' && !isBlank(item.text),
);

/** Returns the items' messages from an index on. */
function convertItems(
  request: Pick<ModelRequest, 'prompt'>,
  from: number,
  replays: ReadonlyMap<number, StepReplay>,
  maker: BodyMaker,
): Message[] {
  const messages: Message[] = [];
  const add = (role: Message['role'], ...blocks: readonly JsonObject[]) => {
    const last = messages.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    else if (blocks.length > 0) messages.push({ role, content: [...blocks] });
  };
  const { prompt } = request;
  for (let index = from; index < prompt.length; index += 1) {
    const replayed = replays.get(index);
    if (replayed !== undefined) {
      add('assistant', ...replayedBlocks(replayed, request));
      index += replayed.count - 1;
      continue;
    }
    const item = prompt[index];
    if (item === undefined) continue;
    switch (item.kind) {
      case 'user': {
        const text = shownMessage(item.text, item.sandboxFiles);
        const blocks = [...textBlocks(text), ...(item.attachments ?? []).map((one) => attachmentBlock(one, maker))];
        add('user', ...(blocks.length > 0 ? blocks : textBlocks('(empty message)')));
        break;
      }
      case 'assistant':
        add('assistant', ...textBlocks(item.text));
        break;
      case 'tool_call': {
        const input = parsed(item.arguments);
        add('assistant', {
          type: 'tool_use',
          id: toolUseId(item.callId),
          name: toolName(item.name),
          input: isObject(input) ? input : {},
        });
        break;
      }
      case 'tool_output':
        add('user', { type: 'tool_result', tool_use_id: toolUseId(item.callId), ...resultContent(item, maker) });
        break;
    }
  }
  return messages;
}

function resultContent({ output, images }: ToolOutput, maker: BodyMaker): JsonObject {
  if (images !== undefined) {
    return { content: [...textBlocks(output), ...images.map((one) => attachmentBlock(one, maker))] };
  }
  return isBlank(output) ? {} : { content: output };
}

function textBlocks(text: string): JsonObject[] {
  return isBlank(text) ? [] : [{ type: 'text', text }];
}

function attachmentBlock(one: PromptAttachment, maker: BodyMaker): JsonObject {
  switch (one.kind) {
    case 'image':
      return { type: 'image', source: { type: 'base64', media_type: one.mediaType, data: maker.base64(one) } };
    case 'pdf':
      return {
        type: 'document',
        source: { type: 'base64', media_type: one.mediaType, data: maker.base64(one) },
        title: one.name,
      };
    case 'text':
      return { type: 'text', text: one.text };
  }
}

/**
 * True if the body has one call for each call of the prompt, so that every output finds its call, and no thinking follows
 * a call that gets another id: thinking is bound to everything before it.
 */
export function isWholeReplay({ prompt }: ModelRequest, { index, count, replay: { body } }: StepReplay): boolean {
  if (!Array.isArray(body) || !body.every(isObject)) return false;
  const calls = prompt.slice(index, index + count).filter((item) => item.kind === 'tool_call');
  let isRenamed = false;
  let found = 0;
  for (const { type, id } of body) {
    if (type === 'tool_use') {
      const call = calls[found];
      isRenamed ||= call === undefined || id !== toolUseId(call.callId);
      found += 1;
    } else if (isRenamed && type !== 'text') return false;
  }
  return found === calls.length;
}

/** The calls get the prompt's ids: two responses of a server may have calls with one id. */
function replayedBlocks({ index, count, replay }: StepReplay, { prompt }: Pick<ModelRequest, 'prompt'>): JsonObject[] {
  const calls = prompt.slice(index, index + count).filter((item) => item.kind === 'tool_call');
  let next = 0;
  return (replay.body as readonly JsonObject[]).map((block) => {
    if (block.type !== 'tool_use') return block;
    const call = calls[next];
    next += 1;
    return call === undefined ? block : { ...block, id: toolUseId(call.callId) };
  });
}

/** Calls of other providers may have ids and names that this protocol refuses. */
function toolUseId(callId: string): string {
  return /^[\w-]{1,64}$/.test(callId) ? callId : `call_${hash('sha256', callId).slice(0, 32)}`;
}

function toolName(name: string): string {
  const allowed = name.replaceAll(/[^\w-]/g, '_').slice(0, 128);
  return allowed === '' ? '_' : allowed;
}

/** A prompt with calls must declare tools. If the agent has none, those of the calls are declared, and forbidden. */
function calledTools(messages: readonly Message[]): JsonObject[] {
  const names = messages.flatMap(({ content }) =>
    content.flatMap((block) => (block.type === 'tool_use' ? [block.name] : [])),
  );
  return [...new Set(names)].map((name) => ({
    name,
    description: 'Not available any more.',
    input_schema: { type: 'object' },
  }));
}
