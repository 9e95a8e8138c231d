import { ConnectionLostError, RunwireError, ServerError } from '@runwire/client';
import { formatDuration } from '../lib/format.ts';

/** What a page shows of an error. */
interface ErrorText {
  /** What was wrong, as the API reports it. */
  readonly message: string;
  /** What the person can do. Null if the message contains it. */
  readonly advice: string | null;
  readonly code: string | null;
  /** Names the request in the log of the server. */
  readonly requestId: string | null;
}

/** What a person typed is wrong, found before a request is sent. */
export class InputError extends Error {}

const ADVICE: Readonly<Partial<Record<RunwireError['code'], string>>> = {
  run_active: 'Wait until the run ends, or stop it.',
  consumer_allowance_exhausted: 'Raise the allowance of the member, adjust it, or wait for its reset.',
  model_error: 'The provider of the model failed. Try again, or choose another model.',
  model_timeout: 'The provider of the model did not answer in time. Try again.',
  run_timeout: 'The run took longer than the integration permits. Raise its limit, or ask for less.',
  step_limit: 'The agents took more steps than a run may have. Look at the steps of the run for a loop.',
  member_not_found: 'Register the member, or choose another one.',
  consumer_inactive: 'Activate the member on the page Members.',
  internal_error: 'This is a fault of the server. Its log has the cause, with the request id below.',
  too_many_sign_ins: 'Wait, or ask the operator for a set-up link (`runwire owners link`).',
  invalid_set_up_link: 'Ask the operator for a new link: `runwire owners link`.',
};

/** True if the server did not answer: the connection failed, or a proxy answered for it. */
export const isConnectionLost = (error: unknown): boolean =>
  error instanceof ConnectionLostError || (error instanceof ServerError && error.code === 'unexpected_answer');

export function describeError(error: unknown): ErrorText {
  if (isConnectionLost(error)) {
    const advice = 'It is not known if the request was carried out. Look again when the server answers.';
    return { message: 'The server does not answer.', advice, code: null, requestId: null };
  }
  if (error instanceof RunwireError) {
    const { message, code, requestId, retryAfterSeconds } = error;
    const wait = retryAfterSeconds === null ? null : `Try again in ${formatDuration(retryAfterSeconds * 1000)}.`;
    const advice = [ADVICE[code], wait].filter((sentence) => sentence !== undefined && sentence !== null).join(' ');
    return { message, advice: advice === '' ? null : advice, code, requestId };
  }
  if (error instanceof InputError) return { message: error.message, advice: null, code: null, requestId: null };
  const message = 'The console failed to show this. Reload the page.';
  return { message, advice: String(error), code: null, requestId: null };
}
