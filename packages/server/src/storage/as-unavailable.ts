import { StoreUnavailable } from '../domain/unavailable.ts';

/** Errors that pass by themselves or after the operator frees resources. */
const NOT_NOW: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE']);

/** Returns `StoreUnavailable` if a later retry can succeed, and the error itself otherwise. */
export function asUnavailable(error: unknown): unknown {
  const code = getCode(error);
  return NOT_NOW.has(code)
    ? new StoreUnavailable(`A file cannot be stored or read now: ${code}.`, { cause: error })
    : error;
}

/** Errors of the disk become `StoreUnavailable` if a later retry can succeed. */
export async function onDisk<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw asUnavailable(error);
  }
}

const getCode = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;
