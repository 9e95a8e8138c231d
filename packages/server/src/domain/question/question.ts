import type { RunId } from '../ids.ts';

/** `approval`: a person decides whether the call is made. `tool`: only the caller can make it. */
export type QuestionKind = 'approval' | 'tool';

/** A call that waits for an answer of the caller. */
export interface Question {
  readonly questionId: string;
  readonly kind: QuestionKind;
  readonly callId: string;
  readonly agent: string;
  readonly callerAgent: string | null;
  readonly tool: string;
  /** The arguments as the model wrote them: a JSON object. */
  readonly argumentsText: string;
}

/** A chat's open questions: those of its newest run, as the chat's row stores them. */
export interface OpenQuestions {
  readonly runId: RunId;
  /** The agent at which the asking run began. */
  readonly agent: string;
  readonly questions: readonly Question[];
}

/** An answer as the caller sent it. */
export interface RequestAnswer {
  readonly questionId: string;
  readonly approve?: boolean;
  readonly reason?: string;
  /** Text, or any other JSON value. */
  readonly output?: unknown;
  readonly failed?: boolean;
}

/** What becomes of a call that waited. */
export type Settlement = { readonly questionId: string; readonly callId: string } & (
  | { readonly verdict: 'approved'; readonly reason: string | null }
  | { readonly verdict: 'declined'; readonly text: string }
  | { readonly verdict: 'output'; readonly text: string; readonly failed: boolean }
);

/** The run that asked, and what becomes of its calls. */
export interface Continuation {
  readonly runId: RunId;
  readonly settlements: readonly Settlement[];
}

/** Who answered a question. */
export interface Answerer {
  readonly kind: 'person' | 'key' | 'client_token';
  /** The id of a person, a key, or the member of a client token. Null for the key of `RUNWIRE_API_KEY`. */
  readonly id: string | null;
  readonly name: string | null;
}

/** The column `answer_json` of `asked_questions`. */
export interface StoredAnswer {
  readonly decision: 'approved' | 'declined' | 'output';
  readonly reason: string | null;
  readonly by: Answerer;
}
