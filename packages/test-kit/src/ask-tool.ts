import { callTool } from '@runwire/server/src/agent/call-tool.ts';
import type { AgentFiles } from '@runwire/server/src/agent/files-port.ts';
import type { Tool } from '@runwire/server/src/agent/ports.ts';
import { fileTools } from '@runwire/server/src/agent/tools/file-tools.ts';
import { EMPTY_STATE } from '@runwire/server/src/domain/chat/chat-state.ts';
import type { ToolCallItem } from '@runwire/server/src/domain/run/events.ts';

const room = { isFull: false, onceRoom: () => {} };
const speaker = { agent: 'A', callerAgent: null, outputIndex: 0, complete: true, timestamp: 1 };

/** Returns the text that a model gets from a call with these arguments. */
export async function askTool(
  tools: readonly Tool[],
  name: string,
  input: object,
  signal: AbortSignal = new AbortController().signal,
): Promise<string> {
  const call: ToolCallItem = { kind: 'tool_call', id: 'f', callId: 'c', name, text: JSON.stringify(input), ...speaker };
  const run = {
    runId: 'r',
    userContext: null,
    member: async () => null,
    state: async () => EMPTY_STATE,
    signal,
    prompt: [],
    room,
    approval: null,
    traceparent: undefined,
  };
  return (await callTool(call, tools, { ...run, onProgress: () => {} })).text;
}

export const askToRead = (files: AgentFiles, path: string, more: object = {}, signal?: AbortSignal): Promise<string> =>
  askTool(fileTools(files), 'read_file', { path, ...more }, signal);

export const askToSearch = (files: AgentFiles, input: object, signal?: AbortSignal): Promise<string> =>
  askTool(fileTools(files), 'search_files', input, signal);
