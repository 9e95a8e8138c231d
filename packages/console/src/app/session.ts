import { RunwireError } from '@runwire/client';
import { consoleUrl } from './addresses.ts';
import { fetchFields } from './fetch-fields.ts';

/** Sends a request that signs in, out or changes the password. They are not part of the API, and use the cookie. */
const post = (operation: string, body: object = {}) =>
  fetchFields(new URL(operation, consoleUrl), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

/** Returns a token for the API, which is valid for 10 minutes. The client asks for another one before it ends. */
export async function fetchToken(): Promise<string> {
  const { token } = await post('token');
  return String(token);
}

/** A token's owner, which is a JWT: its second part is JSON in base64url. */
export function getOwner(token: string): string {
  const [, payload = ''] = token.split('.');
  return JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/'))).sub;
}

interface SignInFields {
  readonly email: string;
  readonly password: string;
}

/**
 * Remembers that this browser has signed in. Pages cannot see the cookie, and a request without a session is an error in
 * the browser's console.
 */
const MARK = `runwire signed in at ${consoleUrl.pathname}`;

export const mayHaveSession = (): boolean => localStorage.getItem(MARK) !== null;
const mark = () => localStorage.setItem(MARK, 'yes');
export const unmark = (): void => localStorage.removeItem(MARK);

export const signIn = (fields: SignInFields) => post('sign_in', fields).then(mark);
export const setUp = (fields: SignInFields & { readonly link: string }) => post('set_up', fields).then(mark);
export const signOut = () => post('sign_out').then(unmark);
export const signOutEverywhere = () => post('sign_out_everywhere').then(unmark);
export const changePassword = (fields: { readonly current: string; readonly new: string }) => post('password', fields);

export const isSessionEnded = (error: unknown): boolean =>
  error instanceof RunwireError && (error.code === 'session_ended' || error.code === 'invalid_api_key');
