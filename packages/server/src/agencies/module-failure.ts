/** Why a module could not be loaded, in a form that can be sent between processes. */
export interface ModuleFailure {
  readonly message: string;
  readonly code: string | null;
  readonly stack: string;
}

/** What the process that tries modules sends: that it has started, then the result. */
export type ChildMessage = 'started' | { readonly failure: ModuleFailure | null };

/** The code of a failure whose message is a whole sentence. */
export const OWN_SENTENCE = 'RUNWIRE';

/** Precedes the name of a package among the files that another process tries to load. */
export const PACKAGE_ARGUMENT = 'package:';

export function moduleFailure(error: unknown): ModuleFailure {
  if (!(error instanceof Error)) return { message: String(error), code: null, stack: '' };
  const { message, stack = '' } = error;
  const { code } = error as { code?: unknown };
  return { message, code: typeof code === 'string' ? code : null, stack };
}
