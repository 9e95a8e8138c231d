import type { AboutRun, AboutStep, ApprovalCall, ToolCall } from '@runwire/agency';
import type { AgencyFile, AgentFile } from '@runwire/contract/schemas';
import type { ModelTool, ToolOutcome } from '../../agent/ports.ts';
import type { QuestionKind } from '../../domain/question/question.ts';
import type { GuardrailPosition } from '../../domain/run/guardrail-record.ts';
import type { Fault } from '../fault.ts';
import type { ModuleFailure } from '../module-failure.ts';
import type { RefusedCode } from '../refused-code.ts';
import type { JsonSchema } from '../tool-schema.ts';
import type { StrippedFiles } from './strip-files.ts';

/*
 * What a server and the process of an agency send each other. Parts of the code are named by references, which are equal in
 * all versions of an agency that have the part.
 *
 *   server                                   process
 *     ├── ask { id, … } ─────────────────────▶ │
 *     │ ◀───────────────── progress, part ──── │   as often as the part reports
 *     ├── abort, more ───────────────────────▶ │
 *     │ ◀────────────────────── done, failed ─ │   exactly once, unless the process ends first
 *     │ ◀──────────────────── fault, withheld ─ │   without a question
 */

/** The code that a process loads. */
export type CodeSource =
  | { readonly kind: 'agency'; readonly file: string }
  | { readonly kind: 'tools'; readonly files: readonly string[] }
  | { readonly kind: 'package'; readonly name: string };

export interface LoadQuestion {
  readonly kind: 'load';
  /** The real path of the agency's folder. */
  readonly folder: string;
  readonly source: CodeSource;
  /** The rest of a longer result is not sent. */
  readonly resultCharacters: number;
  readonly stripped: StrippedFiles;
  /** The names of variables that the process does not get. */
  readonly withheld: readonly string[];
}

/** `ToolCall` without what cannot be sent. The messages are JSON, because few tools read them. */
export type SentCall = Omit<
  ToolCall,
  'abortSignal' | 'progress' | 'state' | 'messages' | 'toolCallId' | 'context' | 'experimental_context'
> & { readonly messagesJson: string /** Null if the chat has no state. */; readonly stateJson: string | null };

export type SentApprovalCall = Omit<ApprovalCall, 'messages'> & { readonly messagesJson: string };

export type Question =
  | LoadQuestion
  | {
      readonly kind: 'call';
      readonly tool: string;
      readonly input: unknown;
      readonly argumentsText: string;
      readonly call: SentCall;
    }
  | { readonly kind: 'approval'; readonly tool: string; readonly input: unknown; readonly call: SentApprovalCall }
  | { readonly kind: 'check'; readonly schema: string; readonly value: unknown }
  | { readonly kind: 'instructions'; readonly agent: string; readonly about: AboutRun }
  | { readonly kind: 'guardrail'; readonly guardrail: string; readonly about: unknown }
  | { readonly kind: 'condition'; readonly condition: string; readonly about: AboutStep }
  | { readonly kind: 'stream'; readonly model: string; readonly options: unknown }
  | { readonly kind: 'ping' };

export type ToProcess =
  | { readonly id: number; readonly ask: Question }
  | { readonly id: number; readonly abort: true }
  /** A stream's reader has room for this many parts more. */
  | { readonly id: number; readonly more: number };

export type ToServer =
  | { readonly id: number; readonly done: unknown }
  | { readonly id: number; readonly failed: SentError }
  | { readonly id: number; readonly progress: string }
  | { readonly id: number; readonly part: unknown }
  | { readonly fault: ReportedFault }
  | { readonly withheld: string };

/** An error in a form that can be sent. `fields` are those by which the adapter recognises errors of the AI SDK. */
export interface SentError {
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** The call, or the other use of the code, during which something happened. */
export interface UsedBy {
  readonly use: Question['kind'];
  /** The tool's reference, schema or model, the condition, or the name of the agent or guardrail. Null if the use concerns no part. */
  readonly part: string | null;
  /** The tool's name. Null if the part is no tool. */
  readonly tool: string | null;
  readonly callId: string | null;
  readonly runId: string | null;
}

export interface ReportedFault {
  /** A rejection does not end the process. */
  readonly kind: 'rejection' | 'exception' | 'exit';
  readonly message: string;
  readonly stack: string;
  /** Null if it is not known. */
  readonly usedBy: UsedBy | null;
}

export interface Pong {
  /** Heap and buffers. */
  readonly memoryBytes: number;
}

export interface DescribedTool extends ModelTool {
  readonly ref: string;
  /** The file that the author sees in sentences about the tool. */
  readonly file: string;
  readonly repeatable: boolean;
  readonly editable: boolean;
  readonly remember: boolean;
  readonly timeoutMs: number | undefined;
  readonly asks: QuestionKind | null;
  /** True if it has `isEnabled`. */
  readonly isConditional: boolean;
  /** True if the server checks the input, because the schema is plain JSON Schema. Otherwise the process does. */
  readonly isPlainInput: boolean;
  /** The server checks the user's context too, if this is not null. */
  readonly plainContext: JsonSchema | null;
}

export interface DescribedSchema {
  readonly ref: string;
  readonly jsonSchema: JsonSchema;
  readonly isPlain: boolean;
}

export interface DescribedModel {
  readonly ref: string;
  /** The model's name in the agency. */
  readonly name: string;
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
}

/** A guardrail of the code, by its name. */
export interface DescribedGuardrail {
  readonly name: string;
  readonly on: GuardrailPosition;
}

type DescribedGuardrails = readonly (readonly [name: string, guardrail: DescribedGuardrail | RefusedCode])[];

/** A function that decides about flows, by its name. */
export interface DescribedCondition {
  readonly ref: string;
}

type DescribedConditions = readonly (readonly [name: string, condition: DescribedCondition | RefusedCode])[];

export interface DescribedAgent {
  readonly value: AgentFile;
  readonly instructions: string | null;
  readonly tools: readonly (readonly [name: string, tool: DescribedTool | RefusedCode])[];
  readonly output: DescribedSchema | RefusedCode | null;
  readonly models: readonly DescribedModel[];
}

export interface DescribedAgency {
  readonly value: AgencyFile;
  readonly agents: readonly DescribedAgent[];
  readonly models: readonly DescribedModel[];
  readonly guardrails: DescribedGuardrails;
  readonly conditions: DescribedConditions;
}

/** What a file exports, by the names. */
export interface DescribedExports {
  readonly tools: readonly (readonly [name: string, tool: DescribedTool | RefusedCode])[];
  readonly guardrails: DescribedGuardrails;
  readonly functions: DescribedConditions;
}

export type LoadAnswer =
  | { readonly failure: ModuleFailure }
  | {
      /** The modules of the folder that were loaded, by their paths from the folder. */
      readonly files: readonly string[];
      /** Faults of the definition. Then `agency` is null. */
      readonly faults: readonly Fault[];
      readonly agency: DescribedAgency | null;
      /** In the order of the files of `tools`. */
      readonly exports: readonly DescribedExports[];
    };

export type CallAnswer = Pick<ToolOutcome, 'status' | 'text' | 'textLength' | 'images' | 'state'>;
