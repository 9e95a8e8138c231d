import type { OutputItem, ToolOutputItem } from './events.ts';
import type { Usage } from './usage.ts';

/** How the journal is written. A run whose journal says a number that is not known here is not gone on with. */
export const JOURNAL_FORMAT = 1;
/** The same, of a run with attachments by URL: versions that know of none would go on without them. */
export const JOURNAL_FORMAT_WITH_URLS = 2;

export const isKnownJournal = (format: number): boolean =>
  format === JOURNAL_FORMAT || format === JOURNAL_FORMAT_WITH_URLS;

/** What came out of a step, and what a later attempt goes on from. */
export interface StepOutcome {
  /** Of a model's step. */
  readonly usage: Usage | null;
  /** The response's items, or the tool's output. */
  readonly output: readonly (OutputItem | ToolOutputItem)[];
}

/** A finished step, as the journal keeps it: enough to go on from without doing it again. */
export interface Step extends StepOutcome {
  /** 1, 2, 3 … within the run, in every attempt the same. */
  readonly step: number;
  readonly kind: 'model' | 'tool';
  readonly agent: string;
  readonly callerAgent: string | null;
  readonly model: string | null;
  readonly tool: string | null;
  readonly callId: string | null;
  readonly status: 'completed' | 'failed';
  readonly startedAt: number;
  readonly completedAt: number;
}

/** With the attempt that did it and the ids of its first and last event. */
export interface JournalledStep extends Step {
  readonly attempt: number;
  readonly firstEventId: number;
  readonly lastEventId: number;
}
