/* A set-up link is `…/console/#set_up=<secret>`. The secret is kept in memory only, and removed from the address. */

const PREFIX = '#set_up=';

let secret: string | null = null;

/** Returns true if the address has a set-up link, which is then removed from it. */
export function takeSetUpLink(): boolean {
  if (!location.hash.startsWith(PREFIX)) return false;
  secret = location.hash.slice(PREFIX.length);
  history.replaceState(null, '', location.pathname + location.search);
  return true;
}

export const setUpSecret = (): string | null => secret;

export function forgetSetUpSecret(): void {
  secret = null;
}
