const MAX_NAME_CHARACTERS = 253;
const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** True if the text is a DNS name as a parsed URL has it: lower case, Punycode, no dot at the end. */
export const isPlainName = (hostname: string): boolean =>
  hostname.length <= MAX_NAME_CHARACTERS &&
  hostname.split('.').every((label) => LABEL.test(label)) &&
  !isNumber(hostname);

/** A host that ends with a number is an address or invalid. */
const isNumber = (hostname: string): boolean => /(^|\.)(\d+|0x[0-9a-f]*)$/.test(hostname);
