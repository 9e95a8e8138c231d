import type { AboutStep, ApprovalCall, ToolCall } from '@runwire/agency';
import type { ModelTool } from '@runwire/models';
import type { StateChange } from '../domain/chat/chat-state.ts';
import type { QuestionKind } from '../domain/question/question.ts';
import type { GuardrailPosition } from '../domain/run/guardrail-record.ts';
import { type GivenImage, type ImageResult, type ToolImage, withinLimits } from '../domain/run/tool-image.ts';
import type { CallState } from './call-state.ts';
import type { Publication } from './publication.ts';

export type { GuardrailAttachment } from '@runwire/agency';

export type {
  InputUsage,
  Model,
  ModelOutput,
  ModelRequest,
  ModelResult,
  ModelTool,
  PromptItem,
  Room,
  StepReplay,
} from '@runwire/models';

/** `problem` describes for the model what is wrong with the value. */
export type CheckResult = { readonly value: unknown } | { readonly problem: string };

export type CheckInput = (input: unknown) => CheckResult | Promise<CheckResult>;

/** The rule by which calls of a tool need an answer of the caller before they are made. */
export interface AskingRule {
  readonly kind: QuestionKind;
  /** Decides by the input as the model wrote it. A call with wrong input does not ask: it fails. */
  readonly isNeeded: (input: unknown, call: ApprovalCall) => Promise<boolean>;
}

/** Every call with right input asks. */
export const alwaysAsks = (kind: QuestionKind, checkInput: CheckInput): AskingRule => ({
  kind,
  isNeeded: async (input) => 'value' in (await checkInput(input)),
});

/** Decides whether a model sees a tool or a flow in a step. Resolves to what the agency's code returned. */
export type IsEnabled = (about: AboutStep, signal: AbortSignal) => Promise<unknown>;

/** The process ended while the function was asked, and other code ended it. */
export class EndedByOther extends Error {}

/** A tool in the form that the loop calls. */
export interface Tool extends ModelTool {
  /** True if a call whose outcome is unknown may be repeated. */
  readonly repeatable: boolean;
  /** Absent if no call needs an answer. */
  readonly asks?: AskingRule | undefined;
  /** True if an approval may change the arguments. */
  readonly editable?: boolean | undefined;
  /** True if an approval may allow further calls in the chat. */
  readonly remember?: boolean | undefined;
  /** How long a call may take. Absent if the tool has its own limit. */
  readonly timeoutMs?: number | undefined;
  /** True if the tool is code of the agency, which can use the chat's state. */
  readonly takesState?: boolean | undefined;
  /** Absent if the model sees it in every step. */
  readonly isEnabled?: IsEnabled | undefined;
  readonly checkInput: CheckInput;
  /**
   * Checks the input and makes the call. A rejection is a failed call. `argumentsText` is the input as the model wrote it,
   * `state` the chat's state in `call`, if the tool takes it. The outcome has its changes only if the call was made in another process.
   */
  readonly call: (input: unknown, call: ToolCall, argumentsText: string, state?: CallState) => Promise<ToolOutcome>;
}

/** A guardrail in the form that the loop asks. */
export interface Guardrail {
  readonly name: string;
  readonly on: GuardrailPosition;
  /** Resolves to what the agency's code returned. Rejects if it fails, or if its process ends. */
  readonly check: (about: unknown, signal: AbortSignal) => Promise<unknown>;
}

export interface ToolOutcome {
  readonly status: 'completed' | 'failed';
  /** The text for the model. */
  readonly text: string;
  /** The whole text's characters. Absent if `text` is whole. */
  readonly textLength?: number;
  /** Present if the call changes files. The outcome counts only if they become visible. */
  readonly publication?: Publication;
  /** How a successful call changed the chat's state. Absent if it changed nothing. */
  readonly state?: readonly StateChange[];
  /** Not stored yet. */
  readonly images?: readonly GivenImage[];
  /** Another run has stored them. */
  readonly recordedImages?: readonly ToolImage[];
}

export const failedCall = (text: string): ToolOutcome => ({ status: 'failed', text });

export const wrongArguments = (problem: string): ToolOutcome => failedCall(`The arguments are wrong: ${problem}`);
export const wrongContext = (problem: string): ToolOutcome =>
  failedCall(`The user's context is not what this tool needs: ${problem}`);

/** The result of a call that changes files. */
export interface FileResult {
  /** For the model, if the changes become visible. */
  readonly text: string;
  readonly publication: Publication;
}

/** A tool's call without code: the loop asks the caller instead. */
export const onlyByCaller = (checkInput: CheckInput): Tool['call'] =>
  checkedCall({
    checkInput,
    execute: async () => {
      throw new Error('Only the caller can run this tool.');
    },
  });

export interface CheckedTool {
  readonly checkInput: CheckInput;
  /** Absent if the tool accepts every context. */
  readonly checkContext?: CheckInput;
  /** Resolves to the result for the model. */
  readonly execute: (
    input: unknown,
    call: ToolCall,
    argumentsText: string,
  ) => Promise<string | FileResult | ImageResult>;
}

/** Makes a tool's calls in this process. */
export function checkedCall({ checkInput, checkContext, execute }: CheckedTool): Tool['call'] {
  return async (given, call, argumentsText) => {
    const input = await checkInput(given);
    if ('problem' in input) return wrongArguments(input.problem);
    let about = call;
    if (checkContext !== undefined) {
      const context = await checkContext(call.userContext);
      if ('problem' in context) return wrongContext(context.problem);
      about = { ...call, context: context.value, experimental_context: context.value };
    }
    const result = await execute(input.value, about, argumentsText);
    if (typeof result === 'string') return { status: 'completed', text: result };
    return { status: 'completed', ...('images' in result ? withinLimits(result) : result) };
  };
}
