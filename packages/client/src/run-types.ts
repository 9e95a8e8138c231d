import type {
  ChangedFile,
  EvalRunRequest,
  GetCompletionV2Request,
  Question,
  RerunRequest,
  StreamMessages,
  StreamMeta,
  ToolAttachment,
} from '@runwire/contract';

/** A run's body. `apiIntegrationId` defaults to the `integration` of the client, or of its client token. */
export type RunRequest = Omit<GetCompletionV2Request, 'apiIntegrationId'> & { apiIntegrationId?: string };

/** A run to run again, and how. `apiIntegrationId` defaults to the `integration` of the client. */
export type RunAgainRequest = RerunRequest & { runId: string; apiIntegrationId?: string };

/** A run for an eval. `apiIntegrationId` defaults to the `integration` of the client. */
export type EvaluateRequest = EvalRunRequest & { apiIntegrationId?: string };

/** Names a run, as plain JSON: store it, and attach to the run with it later, also in another process. */
export interface RunHandle {
  readonly apiIntegrationId: string | null;
  readonly usageRequestId: string | null;
  /** Null until the server has admitted the run. */
  readonly runId: string | null;
  readonly chatId: string | null;
  /** The last event that was read. `attach(handle, { after: handle.lastEventId })` continues after it. */
  readonly lastEventId: number;
}

/** What is known after the admission. */
export interface Admission {
  readonly runId: string;
  readonly chatId: string;
  /** True if the run existed already: nothing was started or charged again. */
  readonly replayed: boolean;
}

/** An event as sent. */
export interface Frame {
  readonly id: number;
  /** Null for events of the model and errors. */
  readonly event: string | null;
  readonly data: string;
}

/** How a run ended. */
export interface RunResult {
  readonly runId: string;
  readonly chatId: string;
  readonly status: StreamMessages['status'];
  /** The answer, without void text. */
  readonly text: string;
  /** The structured output. Null if the agent has none. */
  readonly output: StreamMessages['output'] | null;
  /** The questions with which the run ended. */
  readonly pending: readonly Question[];
  readonly files: readonly ChangedFile[];
  readonly usage: StreamMessages['usage'];
  readonly error: StreamMessages['error'];
  readonly newMessages: StreamMessages['new_messages'];
}

interface Speaker {
  readonly id: number;
  /** The agent that speaks. */
  readonly agent: string;
  /** The agent that asked it. Null if it answers the user. */
  readonly callerAgent: string | null;
}

interface Call extends Speaker {
  readonly callId: string;
}

export type RunEvent =
  | ({
      readonly type: 'started';
      readonly id: number;
      readonly runId: string;
      readonly ignoredFields: readonly string[];
    } & Readonly<Omit<StreamMeta, 'run_id' | 'ignored_fields'>>)
  /** A piece of the answer. The text of agents that were asked by other agents is in `frames()` only. */
  | ({ readonly type: 'text'; readonly delta: string; readonly itemId: string } & Speaker)
  | ({ readonly type: 'reasoning'; readonly delta: string; readonly itemId: string } & Speaker)
  | ({
      readonly type: 'tool_call';
      readonly tool: string;
      readonly arguments: Readonly<Record<string, unknown>>;
    } & Call)
  /** How far a call is. A later report of the same call replaces it. */
  | ({ readonly type: 'tool_progress'; readonly text: string } & Call)
  | ({
      readonly type: 'tool_output';
      readonly output: string;
      readonly failed: boolean;
      /** The images that the call returned, for `runs.attachment`. */
      readonly attachments: readonly ToolAttachment[];
    } & Call)
  /** A hand-off: from here on `agent` answers. */
  | ({ readonly type: 'agent' } & Speaker)
  | ({ readonly type: 'question'; readonly question: Question } & Speaker)
  | ({ readonly type: 'file'; readonly file: ChangedFile } & Call)
  /** The server crashed and continues the run: events of earlier attempts with an id above `discardAfter` are void. */
  | {
      readonly type: 'resumed';
      readonly id: number;
      readonly attempt: number;
      readonly discardAfter: number;
      readonly voidItems: readonly string[];
    }
  | { readonly type: 'error'; readonly id: number; readonly code: string; readonly message: string }
  | ({ readonly type: 'ended'; readonly id: number } & RunResult);
