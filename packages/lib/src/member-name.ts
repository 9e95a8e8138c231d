const MAX_CHARACTERS = 200;
const LOOKS_LIKE_URL = /^\s*[a-z][a-z\d+.-]*:|\/\//i;
const USER = /^(\s*[a-z][a-z\d+.-]*:[/\\]*|\/\/)[^/\\]*@/i;

/**
 * Shortens the name of a JSON member for an error message. A caller chooses the name. Query and user of a URL are
 * removed, because they can contain secrets.
 */
export function memberName(name: string): string {
  const shown = LOOKS_LIKE_URL.test(name) ? name.replace(/[?#].*/s, '').replace(USER, '$1') : name;
  if (shown.length <= MAX_CHARACTERS) return shown;
  // Does not cut a surrogate pair in half.
  return `${shown.slice(0, MAX_CHARACTERS).replace(/[\ud800-\udbff]$/, '')}…`;
}
