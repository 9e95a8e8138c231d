/** The `event:` the stream's names. Events of the model and errors have no name. */
export const sseEvents = { meta: 'meta', resumed: 'resumed', messages: 'messages', end: 'end' } as const;
export type SseEvent = (typeof sseEvents)[keyof typeof sseEvents];

/** The data of the `end` frame. */
export const endOfStream = '[DONE]';

/** An event id is (attempt − 1) · this + n. */
export const eventIdsPerAttempt = 1_000_000_000;

/** `data.type` of an unnamed frame. */
export const streamEventTypes = {
  rawResponse: 'raw_response_event',
  runItem: 'run_item_stream_event',
  agentUpdated: 'agent_updated_stream_event',
} as const;
export type StreamEventType = (typeof streamEventTypes)[keyof typeof streamEventTypes];

/** The OpenAI Responses events inside `raw_response_event`. */
export const responseEventTypes = [
  'response.created',
  'response.output_item.added',
  'response.content_part.added',
  'response.output_text.delta',
  'response.output_text.done',
  'response.content_part.done',
  'response.output_item.done',
  'response.function_call_arguments.delta',
  'response.function_call_arguments.done',
  'response.reasoning_summary_text.delta',
  'response.reasoning_summary_text.done',
  'response.completed',
] as const;
export type ResponseEventType = (typeof responseEventTypes)[number];

/** `name` of a `run_item_stream_event`. Existing clients expect the spelling `handoff_occured`. */
export const runItemNames = [
  'tool_called',
  'tool_output',
  'message_output_created',
  'reasoning_item_created',
  'handoff_requested',
  'handoff_occured',
  'tool_approval_requested',
  'client_tool_requested',
  'tool_progress',
  'mcp_server_failed',
] as const;
export type RunItemName = (typeof runItemNames)[number];

export const headerNames = {
  agentRunAdmitted: 'X-Agent-Run-Admitted',
  runId: 'X-Run-Id',
  chatId: 'X-Chat-Id',
  runReplayed: 'X-Run-Replayed',
  requestId: 'X-Request-Id',
  ignored: 'X-Runwire-Ignored',
} as const;
