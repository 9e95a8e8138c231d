const MAX_NAME_CHARACTERS = 253;
const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** A host's name as DNS knows names, in the small letters and Punycode of a parsed URL, without a dot at its end. */
export const isPlainName = (hostname: string): boolean =>
  hostname.length <= MAX_NAME_CHARACTERS &&
  hostname.split('.').every((label) => LABEL.test(label)) &&
  !isNumber(hostname);

/** What ends with a number is an address or nothing. */
const isNumber = (hostname: string): boolean => /(^|\.)(\d+|0x[0-9a-f]*)$/.test(hostname);
