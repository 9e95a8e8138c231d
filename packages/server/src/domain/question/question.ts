import type { RunId } from '../ids.ts';

/** `approval`: a person decides whether the call is made. `tool`: only the caller can make it. */
export type QuestionKind = 'approval' | 'tool';

/** What an approval of a call may do besides. Fields of tools that allow nothing are absent. */
export interface AllowedAnswers {
  /** The call may be made with other arguments. */
  readonly editable?: true;
  /** Further calls of the tool in the chat may be allowed. */
  readonly rememberable?: true;
}

/** A call that waits for an answer of the caller. */
export interface Question extends AllowedAnswers {
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
  /** The entry point of the asking run. */
  readonly agent: string;
  /** See `RunExtras.begins`. */
  readonly begins?: string;
  readonly questions: readonly Question[];
}

/** An answer as the caller sent it. */
export interface RequestAnswer {
  readonly questionId: string;
  readonly approve?: boolean;
  readonly reason?: string;
  /** The call is made with these instead. */
  readonly arguments?: Readonly<Record<string, unknown>>;
  /** Further calls of the tool in the chat do not ask. */
  readonly remember?: 'chat';
  /** Text, or any other JSON value. */
  readonly output?: unknown;
  readonly failed?: boolean;
}

/** What becomes of a call that waited. `argumentsText` is JSON, and absent if the arguments were not changed. */
export type Settlement = { readonly questionId: string; readonly callId: string } & (
  | { readonly verdict: 'approved'; readonly reason: string | null; readonly argumentsText?: string }
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
  /** Absent if the arguments were not changed. */
  readonly changedArguments?: Readonly<Record<string, unknown>>;
  /** Absent if the approval was for one call. */
  readonly remember?: 'chat';
}

/** The answer to a question has other arguments than the call. */
export interface ArgumentChange {
  /** The answer's position in the request. */
  readonly index: number;
  readonly agent: string;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}
