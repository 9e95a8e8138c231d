/** Shortens a name for a place of one line. */
export const shorten = (text: string, maxLength = 200): string =>
  text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
