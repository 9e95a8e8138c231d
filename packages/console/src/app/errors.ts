import { ConnectionLostError, RunwireError, ServerError } from '@runwire/client';
import { formatDuration } from '../lib/format.ts';

/** What a page shows of an error. */
interface ErrorText {
  /** What was wrong, as the API reports it. */
  readonly message: string;
  /** What the person can do. Null if the message contains it. */
  readonly advice: string | null;
  readonly code: string | null;
  /** Names the request in the server's log. */
  readonly requestId: string | null;
}

/** What a person typed is wrong, found before a request is sent. */
export class InputError extends Error {
  /** The name of the form's field. */
  readonly field: string | undefined;

  constructor(message: string, field?: string) {
    super(message);
    this.field = field;
  }
}

/** What a person can do, in words that are true on every page. Runs that failed have the same codes as requests. */
const ADVICE: Readonly<Record<string, string>> = {
  run_active: 'Wait until the run ends, or stop it.',
  consumer_allowance_exhausted: 'Raise the allowance of the member, adjust it, or wait for its reset.',
  missing_allowance_attribution: 'Choose a member, then send the message again.',
  model_error: 'Check the key and the state of the model provider, then send the message again.',
  model_timeout: 'The model was silent for too long. Send the message again, or choose another model.',
  run_timeout: 'The run took longer than the integration permits. Raise its limit, or ask for less.',
  step_limit: 'The agents took more steps than a run may have. Look at the steps for a loop, or ask for less.',
  attachment_unavailable: 'The server could not fetch an attachment. Send the message with a fresh address.',
  output_invalid: 'The answer did not fit the output schema of the agent. Try again, or make the schema simpler.',
  agency_error: 'Code of the agency failed. Its author must correct it; the log of the server has the reason.',
  guardrail_blocked: 'A guardrail of the agency blocked the message or the answer. The message names the reason.',
  run_interrupted: 'The server stopped and could not continue the run. Send the message again.',
  member_not_found: 'Register the member, or choose another one.',
  consumer_inactive: 'Activate the member on the page Members.',
  internal_error: 'This is a fault of the server. Its log has the cause.',
  too_many_sign_ins: 'Wait, or ask the operator for a set-up link (`runwire owners link`).',
  invalid_set_up_link: 'Ask the operator for a new link: `runwire owners link`.',
};

/** What a person can do after an error with this code. Null if its message is enough. */
export const getAdvice = (code: string): string | null => ADVICE[code] ?? null;

/** True if the server did not answer: the connection failed, or a proxy answered for it. */
export const isConnectionLost = (error: unknown): boolean =>
  error instanceof ConnectionLostError || (error instanceof ServerError && error.code === 'unexpected_answer');

export function describeError(error: unknown): ErrorText {
  if (isConnectionLost(error)) {
    // `ConnectionNotice` reports that the server does not answer.
    const message = 'It is not known if the request was carried out.';
    return { message, advice: 'Look again when the server answers.', code: null, requestId: null };
  }
  if (error instanceof RunwireError) {
    const { message, code, requestId, retryAfterSeconds } = error;
    const wait = retryAfterSeconds === null ? null : `Try again in ${formatDuration(retryAfterSeconds * 1000)}.`;
    const advice = [getAdvice(code), wait].filter((sentence) => sentence !== null).join(' ');
    return { message, advice: advice === '' ? null : advice, code, requestId };
  }
  if (error instanceof InputError) return { message: error.message, advice: null, code: null, requestId: null };
  const message = 'The console failed to show this. Reload the page.';
  return { message, advice: String(error), code: null, requestId: null };
}
