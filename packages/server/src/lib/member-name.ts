const MAX_CHARACTERS = 200;
const LOOKS_LIKE_URL = /^\s*[a-z][a-z\d+.-]*:|\/\//i;
const USER = /^(\s*[a-z][a-z\d+.-]*:[/\\]*|\/\/)[^/\\]*@/i;

/**
 * The name of a member as an answer may say it: others choose it. Of a URL neither query nor user, which may be keys to what
 * lies there; and no more of it than one can read.
 */
export function memberName(name: string): string {
  const shown = LOOKS_LIKE_URL.test(name) ? name.replace(/[?#].*/s, '').replace(USER, '$1') : name;
  if (shown.length <= MAX_CHARACTERS) return shown;
  // Not half of a pair.
  return `${shown.slice(0, MAX_CHARACTERS).replace(/[\ud800-\udbff]$/, '')}…`;
}
