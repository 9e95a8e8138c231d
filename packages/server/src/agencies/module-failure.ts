import { errorText } from '@runwire/lib/error-text.ts';

/** Why a module could not be loaded, in a form that can be sent between processes. */
export interface ModuleFailure {
  readonly message: string;
  readonly code: string | null;
  readonly stack: string;
}

/** The code of a failure whose message is a whole sentence. */
export const OWN_SENTENCE = 'RUNWIRE';

export function moduleFailure(error: unknown): ModuleFailure {
  if (!(error instanceof Error)) return { message: errorText(error), code: null, stack: '' };
  const { message, stack = '' } = error;
  const { code } = error as { code?: unknown };
  return { message, code: typeof code === 'string' ? code : null, stack };
}
