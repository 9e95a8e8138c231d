import { isBlank } from '@runwire/lib/is-blank.ts';
import type { AiSdkCall, AiSdkLanguageModel, AiSdkMessage } from './ai-sdk-types.ts';
import { imagesOfCall } from './images-of-call.ts';
import type { ModelRequest, StepReplay } from './model.ts';
import type { PromptAttachment, PromptImage } from './prompt-attachment.ts';
import { isObject, type JsonObject, parsed } from './provider-failure.ts';
import { shownMessage } from './shown-message.ts';
import { OUTPUT_NAME } from './structured-output.ts';

/** Makes a call's options. */
export async function aiSdkCall(
  model: AiSdkLanguageModel,
  request: ModelRequest,
  replays: ReadonlyMap<number, StepReplay>,
  abortSignal: AbortSignal,
): Promise<AiSdkCall> {
  const { settings = {}, reasoning } = request;
  const own = request.tools.length === 0 ? calledTools(request.prompt) : request.tools;
  const tools = [...own.map(functionTool), ...(request.webSearch === true ? searchTool(model) : [])];
  const { temperature, topP, maxOutputTokens, parallelToolCalls } = settings;
  const version = model.specificationVersion;
  return {
    prompt: await toPrompt(model, request, replays),
    abortSignal,
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { topP }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    // Models of specification v3 have no such option.
    ...(reasoning?.effort === undefined || version === 'v3' ? {} : { reasoning: reasoning.effort }),
    ...(request.output === undefined
      ? {}
      : { responseFormat: { type: 'json', schema: request.output, name: OUTPUT_NAME } }),
    ...(tools.length === 0 ? {} : { tools, toolChoice: toolChoice(request) }),
    // The specification has no such setting, and providers name it differently.
    ...(parallelToolCalls === false
      ? { providerOptions: { anthropic: { disableParallelToolUse: true }, openai: { parallelToolCalls: false } } }
      : {}),
  };
}

/** The tools of providers that search the web, by the first part of the provider's name. */
const SEARCH_TOOLS: Readonly<Record<string, readonly [id: string, name: string]>> = {
  anthropic: ['anthropic.web_search_20250305', 'web_search'],
  google: ['google.google_search', 'google_search'],
  openai: ['openai.web_search', 'web_search'],
  xai: ['xai.web_search', 'web_search'],
};

/** Returns no tool if the provider has none. */
export function searchTool({ provider }: AiSdkLanguageModel): readonly JsonObject[] {
  const found = SEARCH_TOOLS[provider.split('.')[0] ?? ''];
  return found === undefined ? [] : [{ type: 'provider', id: found[0], name: found[1], args: {} }];
}

/**
 * Some providers refuse a prompt with calls that declares no tools. If the agent has none, the calls' tools are
 * declared. The choice `none` would not do: some packages then leave the tools out.
 */
function calledTools(prompt: ModelRequest['prompt']): ModelRequest['tools'] {
  const names = new Set(prompt.flatMap((item) => (item.kind === 'tool_call' ? [item.name] : [])));
  return [...names].map((name) => ({ name, description: 'Not available any more.', inputSchema: { type: 'object' } }));
}

function functionTool({ name, description, inputSchema }: ModelRequest['tools'][number]): JsonObject {
  return { type: 'function', name, description, inputSchema };
}

function toolChoice({ settings, tools }: ModelRequest): JsonObject {
  const choice = settings?.toolChoice ?? 'auto';
  if (tools.some(({ name }) => name === choice)) return { type: 'tool', toolName: choice };
  return { type: choice === 'none' || choice === 'required' ? choice : 'auto' };
}

/**
 * The providers whose packages send images within a tool's result. Other packages write the parts of a result as JSON text,
 * so their images follow the results in a message of the user.
 */
const IMAGES_IN_RESULTS = /^(?:anthropic|amazon-bedrock|google|vertex\.anthropic|openai\.responses|azure\.responses)\b/;

async function toPrompt(
  { specificationVersion: version, provider }: AiSdkLanguageModel,
  { instructions, prompt }: ModelRequest,
  replays: ReadonlyMap<number, StepReplay>,
): Promise<AiSdkMessage[]> {
  const messages: AiSdkMessage[] = isBlank(instructions) ? [] : [{ role: 'system', content: instructions }];
  const add = (role: AiSdkMessage['role'], ...parts: readonly JsonObject[]) => {
    const last = messages.at(-1);
    if (last?.role === role && Array.isArray(last.content)) last.content.push(...parts);
    else if (parts.length > 0) messages.push({ role, content: [...parts] });
  };
  const names = new Map<string, string>();
  for (const item of prompt) if (item.kind === 'tool_call') names.set(item.callId, item.name);
  const takesImages = IMAGES_IN_RESULTS.test(provider);
  let images: JsonObject[] = [];
  const showImages = () => {
    add('user', ...images);
    images = [];
  };
  for (let index = 0; index < prompt.length; index += 1) {
    if (prompt[index]?.kind !== 'tool_output') showImages();
    const replayed = replays.get(index);
    if (replayed !== undefined) {
      add('assistant', ...replayedParts(replayed, prompt));
      index += replayed.count - 1;
      continue;
    }
    const item = prompt[index];
    if (item === undefined) continue;
    switch (item.kind) {
      case 'user': {
        const parts = textParts(shownMessage(item.text, item.sandboxFiles));
        for (const one of item.attachments ?? []) parts.push(await attachmentPart(version, one));
        add('user', ...(parts.length > 0 ? parts : textParts('(empty message)')));
        break;
      }
      case 'assistant':
        add('assistant', ...textParts(item.text));
        break;
      case 'tool_call': {
        const input = parsed(item.arguments);
        const { callId: toolCallId, name: toolName } = item;
        add('assistant', { type: 'tool-call', toolCallId, toolName, input: isObject(input) ? input : {} });
        break;
      }
      case 'tool_output':
        add('tool', {
          type: 'tool-result',
          toolCallId: item.callId,
          toolName: names.get(item.callId) ?? '',
          output:
            item.images === undefined || !takesImages
              ? { type: 'text', value: item.output }
              : { type: 'content', value: await resultParts(version, item.output, item.images) },
        });
        if (item.images !== undefined && !takesImages) {
          images.push({ type: 'text', text: imagesOfCall(item.callId) });
          for (const one of item.images) images.push(await attachmentPart(version, one));
        }
        break;
    }
  }
  showImages();
  return messages;
}

function textParts(text: string): JsonObject[] {
  return isBlank(text) ? [] : [{ type: 'text', text }];
}

/** Models of specification v3 have their own part for images in results. */
async function resultParts(version: string, text: string, images: readonly PromptImage[]): Promise<JsonObject[]> {
  const parts = textParts(text);
  for (const { mediaType, read } of images) {
    const bytes = await read();
    parts.push(
      version === 'v3'
        ? { type: 'image-data', mediaType, data: Buffer.from(bytes).toString('base64') }
        : { type: 'file', mediaType, data: { type: 'data', data: bytes } },
    );
  }
  return parts;
}

async function attachmentPart(version: string, one: PromptAttachment): Promise<JsonObject> {
  if (one.kind === 'text') return { type: 'text', text: one.text };
  const bytes = await one.read();
  return {
    type: 'file',
    mediaType: one.mediaType,
    ...(one.name === null ? {} : { filename: one.name }),
    data: version === 'v3' ? bytes : { type: 'data', data: bytes },
  };
}

const isOwnCall = ({ type, providerExecuted }: JsonObject) => type === 'tool-call' && providerExecuted !== true;

/** True if the body has one call for each call of the prompt, so that every output finds its call. */
export function isWholeReplay({ prompt }: ModelRequest, { index, count, replay: { body } }: StepReplay): boolean {
  if (!Array.isArray(body) || !body.every(isObject)) return false;
  const calls = prompt.slice(index, index + count).filter(({ kind }) => kind === 'tool_call');
  return body.filter(isOwnCall).length === calls.length;
}

/** The calls get the prompt's ids: two responses of a server may have calls with one id. */
function replayedParts({ index, count, replay }: StepReplay, prompt: ModelRequest['prompt']): JsonObject[] {
  const calls = prompt.slice(index, index + count).filter((item) => item.kind === 'tool_call');
  let next = 0;
  return (replay.body as readonly JsonObject[]).map((part) => {
    if (!isOwnCall(part)) return part;
    const call = calls[next];
    next += 1;
    return call === undefined ? part : { ...part, toolCallId: call.callId };
  });
}
