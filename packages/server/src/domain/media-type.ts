const MAX_BYTES = 255;
const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const QUOTED = '"(?:[ !#-\\[\\]-~]|\\\\[ -~])*"';

/**
 * RFC 9110, 8.3.1, of visible ASCII and spaces. White space behind a `;` belongs to the parameter that follows it, or to the
 * next `;`, and to one of them alone: matched by both, 255 characters could keep the server busy for ever.
 */
const MEDIA_TYPE = new RegExp(`^${TOKEN}/${TOKEN}(?: *;(?: *${TOKEN}=(?:${TOKEN}|${QUOTED}))?)*$`);

/** What is wrong with a media type: the rest of a sentence that begins with its name. Null: nothing. */
export function mediaTypeProblem(text: string): string | null {
  if (Buffer.byteLength(text) > MAX_BYTES) return `must be at most ${MAX_BYTES} bytes`;
  if (!MEDIA_TYPE.test(text)) return 'must be `type/subtype`, with optional parameters such as `; charset=utf-8`';
  return null;
}

const SAFE = /^(?:image\/(?:png|jpeg|gif|webp)|application\/pdf)$/;
const SAFE_TEXT = /^(text\/(?:plain|csv))(?: *; *charset=(?:utf-8|"utf-8"))?$/;

/** As which type bytes of unknown origin are handed to a browser: only as one that nothing in it can run. */
export function safeMediaType(stored: string): string {
  const type = stored.toLowerCase();
  if (SAFE.test(type)) return type;
  const text = SAFE_TEXT.exec(type)?.[1];
  return text === undefined ? 'application/octet-stream' : `${text}; charset=utf-8`;
}
