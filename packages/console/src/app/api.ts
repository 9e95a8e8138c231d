import { Runwire } from '@runwire/client';
import { publicApiUrl } from './addresses.ts';
import { fetchToken } from './session.ts';

const newClient = () => new Runwire({ baseUrl: publicApiUrl, apiKey: fetchToken });

let client = newClient();

/** The only way to the API. */
export const api = (): Runwire => client;

/** Forgets the token, so that the next person who signs in does not use it. */
export function forgetToken(): void {
  client = newClient();
}
