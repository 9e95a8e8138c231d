const LONGEST_ESCAPE = 6;

/** Parses a text's JSON, or the first characters of it: these can end inside an escape. */
export function parseJsonStart(json: string): string {
  try {
    return JSON.parse(json) as string;
  } catch {
    // It was cut.
  }
  for (let cut = 0; cut <= LONGEST_ESCAPE; cut += 1) {
    try {
      // Half a surrogate pair at the end is no character.
      return (JSON.parse(`${json.slice(0, json.length - cut)}"`) as string).replace(/[\uD800-\uDBFF]$/, '');
    } catch {
      // The cut is inside an escape.
    }
  }
  return '';
}
