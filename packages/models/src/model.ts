import type { ModelSettings, Reasoning } from '@runwire/agency';
import type { PromptAttachment, PromptImage } from './prompt-attachment.ts';
import type { SandboxFile } from './shown-message.ts';
import type { Usage } from './usage.ts';

/** An item of the prompt, in order. */
export type PromptItem =
  | {
      readonly kind: 'user';
      readonly text: string;
      /** Sent after the text, in this order. */
      readonly attachments?: readonly PromptAttachment[];
      /** `shownMessage` announces these files after the text. */
      readonly sandboxFiles?: readonly SandboxFile[];
    }
  | { readonly kind: 'assistant'; readonly text: string }
  | { readonly kind: 'tool_call'; readonly callId: string; readonly name: string; readonly arguments: string }
  | {
      readonly kind: 'tool_output';
      readonly callId: string;
      readonly output: string;
      /** Shown after the text, in this order. Absent if there are none. */
      readonly images?: readonly PromptImage[];
    };

/** A tool's description for a model. */
export interface ModelTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

/**
 * What a provider wants back of a response within the run, such as thinking with its signatures. It is valid only for the
 * same model after the same prompt.
 */
export interface Replay {
  /** `provider/model`. */
  readonly model: string;
  /** A hash of everything that was sent to the model before the response. */
  readonly prefix: string;
  /** The response's content in the provider's own form and order, as JSON. */
  readonly body: unknown;
}

/** The replay of an earlier step of the loop. It represents `count` the prompt's items, from `index` on. */
export interface StepReplay {
  readonly index: number;
  readonly count: number;
  readonly replay: Replay;
}

/** How often a provider was asked. */
export interface Tries {
  count: number;
}

export interface ModelRequest {
  readonly runId: string;
  /** The step's number in the run, from 1. */
  readonly step: number;
  readonly attempt: number;
  readonly instructions: string;
  readonly prompt: readonly PromptItem[];
  /** How many of the first items belong to earlier turns. Later runs of the chat have the same objects. */
  readonly earlierItems?: number | undefined;
  readonly tools: readonly ModelTool[];
  /** From the agent's definition. If absent, no reasoning is requested. */
  readonly reasoning?: Reasoning | undefined;
  readonly settings?: ModelSettings | undefined;
  /** True if the model may search the web with its provider's own tool. Only models with `searchesWeb` get it. */
  readonly webSearch?: boolean | undefined;
  /** JSON Schema of the answer. A provider that can enforces it; the loop always checks it. */
  readonly output?: Readonly<Record<string, unknown>> | undefined;
  /** True if the call must fail if the model refuses to answer. Otherwise its refusal is a text. */
  readonly failsOnRefusal?: boolean | undefined;
  /** In the prompt's order. A model that cannot use them sends the prompt's items instead. */
  readonly replays?: readonly StepReplay[] | undefined;
  /** Returns a promise to wait for before each further request to the provider, or null. */
  readonly mayCall?: () => Promise<void> | null;
  /** The model adds 1 for each further request to the provider. */
  readonly tries?: Tries | undefined;
  /** Sent to the provider as the header of W3C Trace Context. Absent unless the agency sets `propagateTrace`. */
  readonly traceparent?: string | undefined;
}

/** Tells whether the log can take more output: the store can lag behind. */
export interface Room {
  /** True if nothing more must be read from the provider for now. Reading it costs a comparison. */
  readonly isFull: boolean;
  /** Calls back once when there is room again. Never calls back if the run ends first. */
  onceRoom(callback: () => void): void;
}

export type InputUsage = Pick<Usage, 'inputTokens' | 'cachedTokens'>;

/** The model calls these methods immediately when its output arrives. A call costs no promise. */
export interface ModelOutput extends Room {
  /**
   * Call it when the provider has accepted the call (it answered 2xx), also in a second attempt: from then on its input
   * is charged. A model without HTTP need not call it, because its first event counts as acceptance.
   */
  begun(): void;
  text(text: string): void;
  reasoning(text: string): void;
  toolCall(callId: string, name: string, argumentsText: string): void;
  /** A piece of the arguments of a tool call, counted as output. `toolCall` later passes on the complete arguments. */
  argumentsPiece(text: string): void;
  /** What the provider wants back in later steps of the loop. Called at most once, before the call resolves. */
  replay(replay: Replay): void;
  /** The input that the provider reported when it began. If the call is cut short, only its output is estimated. */
  inputUsage(input: InputUsage): void;
  /** The usage that the provider reported so far. It counts if the call is cut short. */
  usage(usage: Usage): void;
}

export interface ModelResult {
  /** As the provider reported it. Null if it reported none. */
  readonly usage: Usage | null;
  /** The provider's id of the response, and why it ended. Null or absent if the provider has none. Used for traces. */
  readonly responseId?: string | null;
  readonly finishReason?: string | null;
}

/** A client of one model. An aborted call rejects after its connection is closed. */
export interface Model {
  /** `provider/model`. */
  readonly id: string;
  /** The base URL of its provider, for traces. */
  readonly address?: string;
  /**
   * True if the model itself ends a silent call, by the bytes that it receives, and may wait and retry. Otherwise the
   * run's watch ends the call, by the output that reaches the run.
   */
  readonly watchesSilence?: boolean;
  /** The tokens that it accepts in one request. If absent, they follow from its id. */
  readonly windowTokens?: number | undefined;
  /** True if its provider has a tool that searches the web. */
  readonly searchesWeb?: boolean | undefined;
  /** True if PDFs are sent to it. Otherwise their text is sent. */
  readonly takesPdf?: boolean;
  call(request: ModelRequest, output: ModelOutput, signal: AbortSignal): Promise<ModelResult>;
}
