import type { ChangedFile } from '../file/changed-file.ts';
import type { Usage } from '../model/usage.ts';
import type { Question } from '../question/question.ts';
import type { RunEndStatus, RunError } from './run-state.ts';
import type { ToolImage } from './tool-image.ts';

/*
 * A run's events, as the engine emits them, the log stores them and encoders expand them. One event represents
 * `eventWidth(event)` frames with consecutive ids: `item_done` of a message is three frames of the default framing, but
 * one text in memory and in the store.
 */

export interface MessageItem {
  readonly kind: 'message';
  readonly id: string;
  readonly agent: string;
  /** The agent that asked; null if the user did. */
  readonly callerAgent: string | null;
  /** The call id of the `send_message` that began the item's loop; absent in the root loop. */
  readonly loop?: string;
  readonly outputIndex: number;
  /** Grows with each delta. In a decoded chunk it is set only if an event of the chunk needs it. */
  text: string;
  complete: boolean;
  timestamp: number;
}

export interface ReasoningItem {
  readonly kind: 'reasoning';
  readonly id: string;
  readonly agent: string;
  readonly callerAgent: string | null;
  readonly loop?: string;
  readonly outputIndex: number;
  text: string;
  complete: boolean;
  timestamp: number;
}

export interface ToolCallItem {
  readonly kind: 'tool_call';
  readonly id: string;
  readonly agent: string;
  readonly callerAgent: string | null;
  readonly loop?: string;
  readonly outputIndex: number;
  readonly callId: string;
  readonly name: string;
  /** The arguments as the model wrote them. */
  text: string;
  complete: boolean;
  timestamp: number;
}

export interface ToolOutputItem {
  readonly kind: 'tool_output';
  readonly agent: string;
  readonly callerAgent: string | null;
  readonly loop?: string;
  readonly callId: string;
  readonly text: string;
  readonly timestamp: number;
  /** Absent if the call succeeded. Outputs that were stored before this field existed do not have it either. */
  readonly failed?: true;
  /** The agent to which the call handed the loop over. */
  readonly handoff?: string;
  /** `chat` if later runs of the chat begin with this agent. Absent if the hand-off lasts to the end of the run. */
  readonly lasts?: 'chat';
  /** Absent if the call returned none. */
  readonly images?: readonly ToolImage[];
}

/** A call that waits for an answer of the caller. */
export interface QuestionItem {
  readonly kind: 'question';
  readonly agent: string;
  readonly callerAgent: string | null;
  readonly loop?: string;
  readonly questionId: string;
  readonly callId: string;
  readonly name: string;
  /** The arguments as the model wrote them. */
  readonly text: string;
  readonly timestamp: number;
}

export interface UserItem {
  readonly kind: 'user';
  readonly agent: string;
  readonly text: string;
  readonly timestamp: number;
}

/** The parts of a model's response, in order. */
export type OutputItem = MessageItem | ReasoningItem | ToolCallItem;
export type RunItem = OutputItem | ToolOutputItem | UserItem;

/** What a `run_item` event shows: an item of the run, or a question about one. */
export type ShownRunItem = RunItem | QuestionItem;

export type RunItemName =
  | 'message_output_created'
  | 'tool_called'
  | 'tool_output'
  | 'reasoning_item_created'
  | 'handoff_requested'
  | 'handoff_occured'
  | 'tool_approval_requested'
  | 'client_tool_requested';

export interface Meta {
  readonly runId: string;
  readonly chatId: string;
  readonly aliasChatId: string | null;
  readonly usageRequestId: string | null;
  readonly consumerId: string | null;
  readonly agent: string;
  readonly createdAt: number;
  /** Fields of the request that the server does not read; absent if there are none. */
  readonly ignoredFields?: readonly string[];
  /** What a compatible API shows of the request with its run, by the API's own names; absent if there is nothing. */
  readonly shown?: Readonly<Record<string, unknown>>;
}

/** The agent that speaks, and its place in the run. */
export interface Speaker {
  readonly agent: string;
  readonly callerAgent: string | null;
  readonly loop?: string;
}

export interface ResponseRef extends Speaker {
  readonly id: string;
  readonly model: string;
}

/** A text that an attempt began and did not finish. */
export interface VoidOutput {
  readonly id: string;
  readonly kind: 'message' | 'reasoning';
}

export type RunEventBody =
  | { readonly type: 'meta'; readonly meta: Meta }
  | {
      readonly type: 'response_created';
      readonly response: ResponseRef;
      /** The prompt's size, for an estimate of the usage. No part of a frame. Nodes of the version before store none. */
      readonly inputBytes?: number;
    }
  | { readonly type: 'item_added'; readonly item: OutputItem }
  | { readonly type: 'delta'; readonly item: OutputItem; readonly text: string }
  | { readonly type: 'item_done'; readonly item: OutputItem }
  | {
      readonly type: 'response_done';
      readonly response: ResponseRef;
      readonly output: readonly OutputItem[];
      readonly usage: Usage;
    }
  /**
   * The chat is longer than the model's window: its oldest turns are not in the prompt. `summarized`: a summary of them is; nodes of
   * the version before show it as turns that were left out.
   */
  | { readonly type: 'history_left_out'; readonly agent: string; readonly turns: number; readonly summarized?: true }
  | {
      readonly type: 'run_item';
      readonly name: RunItemName;
      readonly item: ShownRunItem;
      /** Set if the call's tool can ask the caller; a question or the call's output shows whether it did. No part of a frame. */
      readonly mayAsk?: true;
    }
  /** What a tool reports while it runs. No part of the prompt. */
  | ({ readonly type: 'tool_progress'; readonly callId: string; readonly text: string } & Speaker)
  /** The run cannot use an MCP server of the agent. At most once per server and run. */
  | ({
      readonly type: 'mcp_server_failed';
      readonly agency: string;
      readonly server: string;
      /** Why the server cannot be used, and what to do. */
      readonly error: string;
    } & Speaker)
  /** A call changed a file. Follows the call's output. */
  | ({ readonly type: 'file_changed'; readonly callId: string; readonly file: ChangedFile } & Speaker)
  /** A hand-off: from here on the loop belongs to `newAgent`. */
  | ({ readonly type: 'agent_updated'; readonly newAgent: string } & Speaker)
  | {
      readonly type: 'resumed';
      readonly runId: string;
      readonly attempt: number;
      readonly discardAfter: number;
      /** The items of delegated agents that began before `discardAfter` and will not be finished. Absent if there are none. */
      readonly voidItems?: readonly string[];
      /**
       * The texts of the root agent that began after `discardAfter`, in their order. Their events are deleted, and readers that
       * count items have counted them. Absent if there are none.
       */
      readonly voidOutputs?: readonly VoidOutput[];
    }
  | { readonly type: 'error'; readonly runId: string; readonly error: RunError }
  | {
      readonly type: 'messages';
      readonly runId: string;
      readonly chatId: string;
      readonly status: RunEndStatus;
      readonly items: readonly RunItem[];
      readonly usage: Usage;
      readonly error: RunError | null;
      /** A structured answer's value. Absent in events of earlier versions. */
      readonly output?: unknown;
      /** The open questions. Absent if there are none. */
      readonly pending?: readonly Question[];
      /** The files that the run changed. Absent if there are none. */
      readonly files?: readonly ChangedFile[];
      /** Absent in events of earlier versions. */
      readonly completedAt?: number;
    }
  | { readonly type: 'end' };

/** `id` is the id of the event's first frame. */
export type RunEvent = RunEventBody & { readonly id: number };

/** The number of frames for the end of an item. */
export const DONE_WIDTH = { message: 3, reasoning: 2, tool_call: 2 } as const;

export function eventWidth(event: RunEventBody): number {
  if (event.type === 'item_added') return event.item.kind === 'message' ? 2 : 1;
  if (event.type === 'item_done') return DONE_WIDTH[event.item.kind];
  return 1;
}

export function lastFrameId(event: RunEvent): number {
  return event.id + eventWidth(event) - 1;
}

/** One attempt's ids. No id of a later attempt can equal one of an earlier attempt (`contract-5-ids`). */
export const IDS_PER_ATTEMPT = 1_000_000_000;

export function attemptBase(attempt: number): number {
  return (attempt - 1) * IDS_PER_ATTEMPT;
}

/** Returns about how many bytes the event takes in memory and in the log. */
export function eventSize(event: RunEventBody): number {
  switch (event.type) {
    case 'delta':
      return event.text.length + 16;
    case 'item_done':
      return event.item.text.length + 64;
    case 'response_done':
      return event.output.reduce((sum, item) => sum + item.text.length, 128);
    case 'tool_progress':
      return event.text.length + 128;
    case 'mcp_server_failed':
      return event.error.length + 128;
    case 'run_item':
      return event.item.text.length + 128;
    case 'messages':
      return event.items.reduce((sum, item) => sum + item.text.length + 128, 128);
    default:
      return 128;
  }
}
