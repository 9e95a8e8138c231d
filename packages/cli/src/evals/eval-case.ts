import type { EvalRunRequest, Usage } from '@runwire/client';

/** What a run must do, as in the file. */
export interface Expect {
  readonly status?: 'completed' | 'failed' | 'cancelled';
  readonly asks?: readonly string[];
  readonly calls?: 'same' | readonly (string | CallPattern)[];
  readonly notCalls?: readonly string[];
  readonly agents?: readonly string[];
  readonly text?: TextPattern;
  readonly output?: { readonly equals?: unknown; readonly schema?: Readonly<Record<string, unknown>> };
  readonly judge?: JudgeSetting;
  readonly maxSteps?: number;
  readonly maxTokens?: number;
}

export interface CallPattern {
  readonly tool: string;
  /** The call must have these members. */
  readonly arguments?: Readonly<Record<string, unknown>>;
}

export interface TextPattern {
  readonly contains?: readonly (string | number)[];
  readonly notContains?: readonly (string | number)[];
  readonly matches?: string;
  readonly maxCharacters?: number;
}

export interface JudgeSetting {
  readonly criteria: string;
  readonly model?: string;
  readonly atLeast?: number;
}

type History = NonNullable<EvalRunRequest['request']['history']>;

/** A server's run: one line in recorded.jsonl. */
export interface RecordedRun {
  readonly runId: string;
  readonly agent: string;
  readonly message: string;
  readonly history: History;
  readonly userContext?: Readonly<Record<string, unknown>> | string;
  /** The reference answer. */
  readonly text: string;
  readonly calls: readonly RecordedCall[];
}

export interface RecordedCall {
  readonly agent: string;
  readonly callerAgent: string | null;
  readonly tool: string;
  /** JSON text. */
  readonly arguments: string;
  /** Null if the call had no outcome. */
  readonly output: string | null;
  readonly failed: boolean;
}

/** A checked case with the file's defaults. */
export interface EvalCase {
  readonly name: string;
  readonly message?: string;
  readonly agent?: string;
  readonly userContext?: Readonly<Record<string, unknown>> | string;
  readonly history?: History;
  readonly tools?: NonNullable<EvalRunRequest['tools']>;
  readonly repeat: number;
  /** How many repeats must pass. */
  readonly atLeast: number;
  /** Null if the case has a message of its own. */
  readonly recorded: RecordedRun | null;
  readonly expect: Expect;
}

/** One file's cases. */
export interface EvalSuite {
  readonly agency: string;
  /** The path from the agency's folder. */
  readonly file: string;
  readonly name: string;
  readonly cases: readonly EvalCase[];
}

/** A run's step, for people. */
export interface RecordStep {
  readonly kind: 'model' | 'tool' | 'guardrail' | 'summary';
  readonly agent: string;
  /** The model, the tool, or the guardrails that were asked. */
  readonly name: string;
  readonly status: string;
  readonly arguments: string | null;
  readonly output: string | null;
  readonly tokens: number | null;
}

/** What a run did. Expectations are checked against it. */
export interface EvalRecord {
  readonly status: string;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly text: string;
  readonly output: unknown;
  /** The tools that the run's open questions are about. */
  readonly asks: readonly string[];
  readonly calls: readonly RecordedCall[];
  /** The agents that spoke, in order. */
  readonly agents: readonly string[];
  readonly steps: readonly RecordStep[];
  readonly usage: Usage;
  readonly cost: Cost | null;
  readonly seconds: number;
}

export interface Cost {
  readonly amount: number;
  readonly currency: string;
}

/** An expectation that a run does not meet. */
export interface Failure {
  /** Its name in the file, such as `text.contains`. */
  readonly expectation: string;
  readonly message: string;
}
