const MAX_BYTES = 255;
const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const QUOTED = '"(?:[ !#-\\[\\]-~]|\\\\[ -~])*"';

/**
 * RFC 9110, 8.3.1, with visible ASCII and spaces. White space after a `;` belongs either to the following parameter or
 * to the next `;`. If both could match it, 255 characters could block the server for a very long time.
 */
const MEDIA_TYPE = new RegExp(`^${TOKEN}/${TOKEN}(?: *;(?: *${TOKEN}=(?:${TOKEN}|${QUOTED}))?)*$`);

/** Returns the rest of a sentence about what is wrong with a media type, or null if it is valid. */
export function mediaTypeProblem(text: string): string | null {
  if (Buffer.byteLength(text) > MAX_BYTES) return `must be at most ${MAX_BYTES} bytes`;
  if (!MEDIA_TYPE.test(text)) return 'must be `type/subtype`, with optional parameters such as `; charset=utf-8`';
  return null;
}

const SAFE = /^(?:image\/(?:png|jpeg|gif|webp)|application\/pdf)$/;
const SAFE_TEXT = /^(text\/(?:plain|csv))(?: *; *charset=(?:utf-8|"utf-8"))?$/;

/** Returns the type with which stored bytes are sent to a browser: only a type that the browser does not execute. */
export function safeMediaType(stored: string): string {
  const type = stored.toLowerCase();
  if (SAFE.test(type)) return type;
  const text = SAFE_TEXT.exec(type)?.[1];
  return text === undefined ? 'application/octet-stream' : `${text}; charset=utf-8`;
}
