import type { Command } from 'commander';
import { jsonLine, note } from './output.ts';
import { inCommandWords } from './refusal-words.ts';

/** What the exit code of a command tells a script. */
export const EXIT = {
  /** The run or the command failed. */
  failed: 1,
  /** The command line is wrong, or a setting is missing. */
  usage: 2,
  /** Something is missing from the result; the output names it. */
  incomplete: 3,
  /** The server refused the request. */
  refused: 4,
  /** The server could not be reached, or cannot answer now. */
  unreachable: 5,
  /** Ctrl-C. */
  interrupted: 130,
} as const;

/** The exit code of a command that reads a run, by the end of the run. */
export const EXIT_OF_END = { completed: 0, failed: EXIT.failed, cancelled: EXIT.incomplete } as const;

/** The command line is wrong, or a setting is missing. */
export class UsageError extends Error {
  /** Follows the sentence. */
  readonly help: string;

  constructor(sentence: string, help = '') {
    super(sentence);
    this.help = help;
  }
}

/** No answer arrived. The message names the address, and the cure. */
export class UnreachableError extends Error {}

/** True if the client gave up because no answer arrived. */
export const isUnreachable = <E>(error: E): error is E & Error & { readonly cause: UnreachableError } =>
  error instanceof Error && error.cause instanceof UnreachableError;

/** The fields of the client's errors that are used here. The client is loaded only by commands that need it. */
interface ClientError extends Error {
  readonly code: string;
  readonly status: number | null;
  readonly requestId: string | null;
  readonly body: Readonly<Record<string, unknown>>;
  readonly handle?: object | null;
}

/** True for an error of the API with one of these codes. */
export const hasCode = (error: unknown, ...codes: readonly string[]): boolean =>
  isClientError(error) && codes.includes(error.code);

const isClientError = (error: unknown): error is ClientError => error instanceof Error && 'admitted' in error;

export interface Failure {
  readonly exitCode: number;
  /** What was wrong, and what to do. */
  readonly message: string;
  /** Null if the error is not one of the API. */
  readonly code: string | null;
  readonly status: number | null;
  readonly requestId: string | null;
}

/** Explains an error to the person or the script that called, in the command's words. */
export function toFailure(error: unknown, command?: Command): Failure {
  const noAnswer = { code: null, status: null, requestId: null };
  if (!isClientError(error)) {
    const message = error instanceof Error ? error.message : String(error);
    return { exitCode: codeOfOther(error), message, ...noAnswer };
  }
  const { code, status, requestId } = error;
  const answer = { code, status, requestId };
  if (!isUnreachable(error)) {
    return { exitCode: codeOfAnswer(code, status), message: inCommandWords(error, command), ...answer };
  }
  // The error of a lost run tells how to read it later.
  const message = error.handle ? `${error.message} ${error.cause.message}` : error.cause.message;
  return { exitCode: EXIT.unreachable, message, ...answer };
}

/** Prints an error, and sets the exit code. */
export function report(error: unknown, isJson: boolean, command: Command): void {
  const failure = toFailure(error, command);
  const { exitCode, message, code, status, requestId } = failure;
  process.exitCode = exitCode;
  if (isJson) note(jsonLine({ error: message, code, status, requestId }, process.stderr));
  else if (error instanceof UsageError && error.help !== '') note(`${message}\n\n${error.help.trimEnd()}`);
  else note(failureText(failure));
}

/** The message with the API's code, and with the id that names the request in the server's log. */
export const failureText = ({ message, code, requestId }: Failure): string =>
  code === null ? message : `${message} (${[code, requestId].filter(Boolean).join(', ')})`;

function codeOfOther(error: unknown): number {
  return error instanceof UsageError ? EXIT.usage : EXIT.failed;
}

function codeOfAnswer(code: string, status: number | null): number {
  if (code === 'connection_lost' || code === 'unexpected_answer') return EXIT.unreachable;
  if (status === null) return EXIT.failed;
  if (status < 500) return EXIT.refused;
  return status === 500 ? EXIT.failed : EXIT.unreachable;
}
