import type { SessionRow } from '../store/queries/sign-in.ts';

const DAY_MS = 86_400_000;
/** A session ends after this time, whether it is used or not. */
export const SESSION_MS = 30 * DAY_MS;
/** A session ends if it got no token for this time. */
export const IDLE_SESSION_MS = 7 * DAY_MS;

export function isLive({ created_at, used_at }: Pick<SessionRow, 'created_at' | 'used_at'>, now: number): boolean {
  return now < created_at + SESSION_MS && now < used_at + IDLE_SESSION_MS;
}

/** True if the id of a principal's key is a session's id. Ids of API keys begin with `key_`. */
export const isSessionId = (keyId: string): boolean => keyId.startsWith('ses_');
