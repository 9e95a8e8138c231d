import type { Replay } from '@runwire/models';
import type { StateChange } from '../chat/chat-state.ts';
import type { ChangedFile } from '../file/changed-file.ts';
import type { RunId } from '../ids.ts';
import type { Cost } from '../model/cost.ts';
import type { Usage } from '../model/usage.ts';
import type { AllowedAnswers, QuestionKind } from '../question/question.ts';
import type { OutputItem, ToolOutputItem } from './events.ts';
import type { GuardrailRecord } from './guardrail-record.ts';
import type { HiddenPart } from './hidden-part.ts';

/** The journal's format. A node resumes only runs whose format it knows. */
export const JOURNAL_FORMAT = 1;
/** A run's format with attachments by URL: a version without them would resume the run and leave them out. */
export const JOURNAL_FORMAT_WITH_URLS = 2;

/**
 * The format of a run whose agent can reach others, and of a run whose journal has a `replay` or a gap in the numbers of its
 * steps: an earlier version would resume the run without them, or take a step for another one.
 */
export const JOURNAL_FORMAT_WITH_FLOWS = 3;

/**
 * The format of a run whose agents can run commands, or that asks the caller, continues such a run or has tools of the
 * caller: an earlier version would call tools without approval, or tell the model that tools do not exist.
 */
export const JOURNAL_FORMAT_WITH_ACTIONS = 4;

/**
 * The format for a run that brings instructions, a schema, earlier turns or inline files: an earlier version would resume the
 * run without them.
 */
export const JOURNAL_FORMAT_WITH_EXTRAS = 5;

/** A rerun's format: an earlier version would call its tools, and charge the member. */
export const JOURNAL_FORMAT_WITH_RERUNS = 6;

/** The format of a run with arguments that a person changed: an earlier version would make the call with the model's. */
export const JOURNAL_FORMAT_WITH_CHANGES = 7;

/** The format of a run for an eval: an earlier version would call its tools. */
export const JOURNAL_FORMAT_WITH_EVALS = 8;

/** The format of a run whose prompt begins with a summary: an earlier version would resume the run without it. */
export const JOURNAL_FORMAT_WITH_SUMMARIES = 9;

/** The format of a run whose prompts show images of tools: an earlier version would resume the run without them. */
export const JOURNAL_FORMAT_WITH_IMAGES = 10;

/** The format of a run with guardrails: an earlier version would resume it without them. */
export const JOURNAL_FORMAT_WITH_GUARDRAILS = 11;

/** The format of a run that uses the chat's state: an earlier version would leave the state and its changes out. */
export const JOURNAL_FORMAT_WITH_STATE = 12;

/** The format of a run that begins with the agent of a lasting hand-off, or that makes one: an earlier version would not. */
export const JOURNAL_FORMAT_WITH_LASTING = 13;

/** The format of a run whose agents have tools or flows that can be hidden: an earlier version would show them. */
export const JOURNAL_FORMAT_WITH_CONDITIONS = 14;

export const isKnownJournal = (format: number): boolean =>
  format >= JOURNAL_FORMAT && format <= JOURNAL_FORMAT_WITH_CONDITIONS;

/** An answer that the agent's output schema refuses. No reader gets it. */
export interface WrongTry {
  readonly text: string;
  /** For the model: continues "Your answer cannot be used: …". */
  readonly problem: string;
}

/** What a model wrote about the oldest turns of a chat. */
export interface StoredSummary {
  readonly text: string;
  /** How many turns it covers, from the beginning of the chat. */
  readonly turns: number;
  /** The last message that it covers. */
  readonly end: number;
  /** The position of the message of the run that made it. */
  readonly madeAt: number;
  /** The run that made the summary before it in the chat. Null if it is the first. */
  readonly before: RunId | null;
}

/** A step's result. A later attempt uses it instead of repeating the step. */
export interface StepOutcome {
  /** Null for a tool step. */
  readonly usage: Usage | null;
  /** The items of the model's response, or the tool's output. */
  readonly output: readonly (OutputItem | ToolOutputItem)[];
  /** Absent if the provider wants nothing back. */
  readonly replay?: Replay;
  readonly tried?: WrongTry;
  /** The calls of a model step that need an answer of the caller, by their ids. */
  readonly asks?: Readonly<Record<string, QuestionKind>>;
  /** What the answers to these calls may do besides, by their ids. Absent if nothing. */
  readonly allows?: Readonly<Record<string, AllowedAnswers>>;
  /** What the call was made with, and what the model wrote. Absent if neither a person nor a guardrail changed it. */
  readonly arguments?: unknown;
  readonly shownArguments?: unknown;
  /** The message that a `send_message` sent, and to whom. */
  readonly asked?: { readonly agent: string; readonly message: string };
  /**
   * Milliseconds from the start of a model step to the model's first output. Absent if there was none, and if an earlier
   * version made the step.
   */
  readonly firstTokenMs?: number;
  /** Absent without a currency, without a price for the model, and if an earlier version made the step. */
  readonly cost?: Cost;
  /** The size of the prompt with its tools, in bytes. Absent in steps of tools and of earlier versions. */
  readonly promptBytes?: number;
  /** How often models were asked for the step, also without an answer. Absent if once. */
  readonly tries?: number;
  /** The files that the call changed. They became visible together with the step. */
  readonly files?: readonly ChangedFile[];
  /** How the call changed the chat's state. The changes are committed with the step. Absent if it changed nothing. */
  readonly state?: readonly StateChange[];
  /** Absent if no guardrail was asked. */
  readonly guardrails?: GuardrailRecord;
  /** What the model did not see, because a function of the agency hid it. Absent if it saw everything. */
  readonly hidden?: readonly HiddenPart[];
  /** Only in steps that summed up. */
  readonly summary?: StoredSummary;
}

/** True if the step is a call that returned images. */
export const hasImages = ({ output }: Pick<StepOutcome, 'output'>): boolean =>
  output.some((item) => item.kind === 'tool_output' && item.images !== undefined);

/** A finished step in the journal. */
export interface Step extends StepOutcome {
  /** Grows within the run. A later attempt never assigns the number of a finished step again. */
  readonly step: number;
  /**
   * `begin`: a call that the caller approved begins. Its outcome is a step of its own. `guardrail`: the user's message was
   * checked. `summary`: a model summed up the oldest turns of the chat, before the first step of a loop.
   */
  readonly kind: 'model' | 'tool' | 'begin' | 'guardrail' | 'summary';
  /** The call id of the `send_message` that began the loop; empty for the root loop. */
  readonly loop: string;
  /** 1, 2, 3 … for the loop's model steps; 0 for other steps. */
  readonly indexInLoop: number;
  readonly agent: string;
  readonly callerAgent: string | null;
  readonly model: string | null;
  readonly tool: string | null;
  readonly callId: string | null;
  readonly status: 'completed' | 'failed';
  readonly startedAt: number;
  readonly completedAt: number;
}

/** A step with its attempt and the ids of its first and last event. */
export interface JournalledStep extends Step {
  readonly attempt: number;
  readonly firstEventId: number;
  readonly lastEventId: number;
}

/** The event id of steps that a rerun keeps: the id of `meta`, because the rerun has no event of them. */
export const KEPT_EVENT_ID = 1;

/** False if a rerun keeps the step of the original run. */
export const isOwnStep = ({ lastEventId }: Partial<Pick<JournalledStep, 'lastEventId'>>): boolean =>
  lastEventId !== KEPT_EVENT_ID;
