import { Runwire } from '@runwire/client';
import { publicApiUrl } from './addresses.ts';
import { fetchToken, getOwner } from './session.ts';
import { meteredFetch } from './traffic.ts';

function newClient(): Runwire {
  let person: string | null = null;
  const apiKey = async (): Promise<string> => {
    const token = await fetchToken();
    const owner = getOwner(token);
    person ??= owner;
    if (owner === person) return token;
    // Another person has signed in with another tab. What this tab shows is not theirs.
    location.reload();
    return new Promise(() => {});
  };
  return new Runwire({ baseUrl: publicApiUrl, apiKey, fetch: meteredFetch });
}

let client = newClient();

/** The only way to the API. */
export const api = (): Runwire => client;

/** Forgets the token, so that the next person who signs in does not use it. */
export function forgetToken(): void {
  client = newClient();
}
