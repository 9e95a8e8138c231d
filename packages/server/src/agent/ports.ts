import type { Reasoning, ToolCall } from '@runwire/agency';
import type { PromptAttachment } from '../domain/prompt-attachment.ts';
import type { SandboxFile } from '../domain/sandbox-file.ts';
import type { Usage } from '../domain/usage.ts';

/** What a model is shown, in order. */
export type PromptItem =
  | {
      readonly kind: 'user';
      readonly text: string;
      /** Shown behind the text, in this order. */
      readonly attachments?: readonly PromptAttachment[];
      /** Announced behind the text: `shownMessage` puts them together. */
      readonly sandboxFiles?: readonly SandboxFile[];
    }
  | { readonly kind: 'assistant'; readonly text: string }
  | { readonly kind: 'tool_call'; readonly callId: string; readonly name: string; readonly arguments: string }
  | { readonly kind: 'tool_output'; readonly callId: string; readonly output: string };

/** What a model is told of a tool. */
export interface ModelTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

/** What is wrong with a value stands in `problem`, for the model to read. */
export type Checked = { readonly value: unknown } | { readonly problem: string };

/** A tool as the loop calls it, whatever it was made with. */
export interface Tool extends ModelTool {
  /** A call of which nobody knows whether it took effect may be made again. */
  readonly repeatable: boolean;
  readonly checkInput: (input: unknown) => Checked | Promise<Checked>;
  readonly checkContext: (context: unknown) => Checked | Promise<Checked>;
  /** Resolves to what the model is told. `argumentsText` is the input as the model wrote it. */
  readonly execute: (input: unknown, call: ToolCall, argumentsText: string) => Promise<string>;
}

export interface ModelRequest {
  readonly runId: string;
  /** 1, 2, 3 … within the run. */
  readonly step: number;
  readonly attempt: number;
  readonly instructions: string;
  readonly prompt: readonly PromptItem[];
  readonly tools: readonly ModelTool[];
  /** As the agent's definition says it; absent: nothing is asked for. */
  readonly reasoning?: Reasoning;
  /** What has to be waited for before the provider is asked once more; null: nothing. Absent: never anything. */
  readonly mayCall?: () => Promise<void> | null;
}

/** Whether what a model says can be taken: the store may lag behind. */
export interface Room {
  /** True: nothing more is to be read of the provider for now. A compare, and no more. */
  readonly isFull: boolean;
  /** Calls back once when there is room again; never, where the run ends before. */
  onceRoom(goOn: () => void): void;
}

/** The model calls these methods immediately when its output arrives. A call costs no promise. */
export interface ModelOutput extends Room {
  /**
   * The provider has accepted the call (it answered 2xx), perhaps for a second time: its input is charged. A model without
   * HTTP need not call this: its first event counts as acceptance.
   */
  begun(): void;
  text(text: string): void;
  reasoning(text: string): void;
  toolCall(callId: string, name: string, argumentsText: string): void;
  /** A piece of a tool call's arguments. `toolCall` hands them over whole; until then the piece counts as said. */
  argumentsPiece(text: string): void;
  /** What the provider has reported so far: counts where the call is then cut short. */
  usage(usage: Usage): void;
}

export interface ModelResult {
  /** As the provider reported it; null where it did not. */
  readonly usage: Usage | null;
}

/** Talks to one model. An aborted call rejects, and by then its connection is closed. */
export interface Model {
  /** `provider/model`. */
  readonly id: string;
  /**
   * True: it ends a silent call itself, by the bytes that it hears of its provider, and may wait and ask again.
   * Otherwise the run's watch ends it, by what reaches the run.
   */
  readonly watchesSilence?: boolean;
  /** True: PDFs are sent to it as they are; otherwise their text is. */
  readonly takesPdf?: boolean;
  call(request: ModelRequest, output: ModelOutput, signal: AbortSignal): Promise<ModelResult>;
}
