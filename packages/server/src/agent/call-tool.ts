import type { RunMember, ToolCall } from '@runwire/agency';
import { bracketedOutput } from '@runwire/lib/bracketed-images.ts';
import { errorText } from '@runwire/lib/error-text.ts';
import { parseOwnJson } from '@runwire/lib/strict-json.ts';
import { unlessAborted } from '@runwire/lib/unless-aborted.ts';
import { isTooDeep, shownMessage, TOO_DEEP } from '@runwire/models';
import type { ToolCallItem } from '../domain/run/events.ts';
import { CallLimit } from './call-limit.ts';
import { type CheckResult, failedCall, type PromptItem, type Room, type Tool, type ToolOutcome } from './ports.ts';
import { ToolProgress } from './tool-progress.ts';

export interface CallSetting {
  /** The run in which the model made the call. */
  readonly runId: string;
  readonly userContext: unknown;
  readonly member: () => Promise<RunMember | null>;
  readonly signal: AbortSignal;
  /** The prompt with which the model made the call. */
  readonly prompt: readonly PromptItem[];
  /** Null if the call needed no approval. */
  readonly approval: ToolCall['approval'];
  readonly room: Room;
  readonly onProgress: (text: string) => void;
  readonly traceparent: string | undefined;
}

/** The result of a call that was in progress when its process died and that must not be repeated. */
export const OUTCOME_UNKNOWN: ToolOutcome = failedCall(
  'The server stopped while this call was under way, and its outcome is unknown: it may or may not have taken effect.',
);

/** Calls a tool. If the call fails, the model receives the error and the run continues (`contract-5-failed-tool`). */
export async function callTool(call: ToolCallItem, tools: readonly Tool[], setting: CallSetting): Promise<ToolOutcome> {
  const tool = tools.find((candidate) => candidate.name === call.name);
  if (tool === undefined) return failedCall(`There is no tool \`${call.name}\`.`);
  const given = readArguments(call.text);
  if ('problem' in given) return failedCall(given.problem);
  const progress = new ToolProgress(setting.room, setting.onProgress);
  using limit = tool.timeoutMs === undefined ? null : new CallLimit(setting.signal, tool.timeoutMs);
  const signal = limit?.signal ?? setting.signal;
  const executed = makeCall(tool, given.value, call, { ...setting, signal }, progress);
  try {
    // A tool that ignores its signal does not delay its run's end.
    return await unlessAborted(setting.signal, limit?.race(executed) ?? executed);
  } catch (error) {
    // If the run ended first, files that the call still makes are not published.
    void executed.then(
      ({ publication }) => publication?.discard(),
      () => {},
    );
    return failedCall(`The tool failed: ${errorText(error)}`);
  } finally {
    if (setting.signal.aborted) progress.drop();
    else progress.finish();
  }
}

/** Reads the arguments as the model wrote them. The problem is for the model. */
export function readArguments(text: string): CheckResult {
  if (isTooDeep(text)) return { problem: `The arguments are ${TOO_DEEP}.` };
  try {
    return { value: parseOwnJson(text.trim() === '' ? '{}' : text) };
  } catch {
    return { problem: 'The arguments are not valid JSON.' };
  }
}

async function makeCall(
  tool: Tool,
  given: unknown,
  call: ToolCallItem,
  { runId, userContext, member, signal, prompt, approval, traceparent }: CallSetting,
  progress: ToolProgress,
): Promise<ToolOutcome> {
  const about = {
    idempotencyKey: `${runId}/${call.callId}`,
    callId: call.callId,
    ...(traceparent !== undefined && { traceparent }),
    userContext,
    member: await member(),
    abortSignal: signal,
    progress: progress.report,
    toolCallId: call.callId,
    messages: modelMessages(prompt),
    context: userContext,
    experimental_context: userContext,
    approval,
  };
  return tool.call(given, about, call.text);
}

/** Converts the prompt to `ModelMessage`s of the AI SDK. */
export function modelMessages(prompt: readonly PromptItem[]): readonly unknown[] {
  const names = new Map<string, string>();
  for (const item of prompt) if (item.kind === 'tool_call') names.set(item.callId, item.name);
  return prompt.map((item) => modelMessage(item, names));
}

function modelMessage(item: PromptItem, names: ReadonlyMap<string, string>): unknown {
  switch (item.kind) {
    case 'user':
      return { role: 'user', content: userContent(item) };
    case 'assistant':
      return { role: 'assistant', content: item.text };
    case 'tool_call': {
      const called = { toolCallId: item.callId, toolName: item.name, input: jsonOr(item.arguments) };
      return { role: 'assistant', content: [{ type: 'tool-call', ...called }] };
    }
    case 'tool_output': {
      const toolName = names.get(item.callId) ?? '';
      const output = { type: 'text', value: bracketedOutput(item.output, item.images) };
      return { role: 'tool', content: [{ type: 'tool-result', toolCallId: item.callId, toolName, output }] };
    }
  }
}

/** Contains the texts of attached files. Tools get no images and no PDFs. */
function userContent({ text, sandboxFiles, attachments = [] }: Extract<PromptItem, { kind: 'user' }>): unknown {
  const shown = shownMessage(text, sandboxFiles);
  const files = attachments.filter((one) => one.kind === 'text');
  if (files.length === 0) return shown;
  return [...(shown === '' ? [] : [shown]), ...files.map((file) => file.text)].map((text) => ({ type: 'text', text }));
}

function jsonOr(text: string): unknown {
  try {
    return parseOwnJson(text);
  } catch {
    return text;
  }
}
