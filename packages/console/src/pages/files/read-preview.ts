export const MAX_TEXT_BYTES = 256_000;

/** The part of a file that is shown. */
export type Preview =
  | {
      readonly kind: 'text';
      readonly text: string;
      /** True if the file has more bytes. */
      readonly isCut: boolean;
      /** True if some bytes are not UTF-8. */
      readonly isDamaged: boolean;
    }
  | { readonly kind: 'image'; readonly blob: Blob }
  | { readonly kind: 'binary' };

const ascii = (text: string) => [...text].map((letter) => letter.charCodeAt(0));

interface Signature {
  readonly type: string;
  readonly bytes: readonly number[];
  readonly at?: number;
}

/** The only types that are shown as images. None of them can run anything. */
const SIGNATURES: readonly Signature[] = [
  { type: 'image/png', bytes: [0x89, ...ascii('PNG\r\n'), 0x1a, 0x0a] },
  { type: 'image/jpeg', bytes: [0xff, 0xd8, 0xff] },
  { type: 'image/gif', bytes: ascii('GIF87a') },
  { type: 'image/gif', bytes: ascii('GIF89a') },
  { type: 'image/webp', bytes: ascii('WEBP'), at: 8 },
];

/** The type by the first bytes; neither the name nor the stored type is trusted. */
const imageType = (bytes: Uint8Array): string | undefined =>
  SIGNATURES.find(({ bytes: wanted, at = 0 }) => wanted.every((byte, index) => bytes[at + index] === byte))?.type;

/** Reads an image whole, and the first part of anything else. */
export async function readPreview(answer: Response): Promise<Preview> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  let type: string | undefined;
  // The loop cancels the rest of the answer when it breaks.
  for await (const part of toBytes(answer)) {
    parts.push(part);
    size += part.length;
    if (type === undefined && size >= 12) type = imageType(joined(parts.slice(0, 12), 12));
    if (type === undefined && size > MAX_TEXT_BYTES) break;
  }
  if (type !== undefined) return { kind: 'image', blob: new Blob(parts, { type }) };
  return toText(joined(parts, Math.min(size, MAX_TEXT_BYTES)), size > MAX_TEXT_BYTES);
}

/** Not every browser can iterate a stream. */
async function* toBytes({ body }: Response): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  if (body === null) return;
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value as Uint8Array<ArrayBuffer>;
    }
  } finally {
    await reader.cancel();
  }
}

function joined(parts: readonly Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    all.set(part.subarray(0, size - at), at);
    at = Math.min(at + part.length, size);
  }
  return all;
}

function toText(bytes: Uint8Array<ArrayBuffer>, isCut: boolean): Preview {
  try {
    // With `stream` a character that the cut divides is left out.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: isCut });
    return { kind: 'text', text, isCut, isDamaged: false };
  } catch {
    if (bytes.includes(0)) return { kind: 'binary' };
    return { kind: 'text', text: new TextDecoder('utf-8').decode(bytes, { stream: isCut }), isCut, isDamaged: true };
  }
}
