import { StoreUnavailable } from '../../domain/unavailable.ts';

/** What passes by itself, or when somebody makes room. */
const NOT_NOW: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE']);

/** The error, or that it may be tried again later. */
export function notNow(error: unknown): unknown {
  const code = codeOf(error);
  return NOT_NOW.has(code)
    ? new StoreUnavailable(`A file cannot be stored or read now: ${code}.`, { cause: error })
    : error;
}

export const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;
