import type { Claims } from './claimed-type.ts';
import { wholeText } from './conversion.ts';
import { decodeText } from './decode-text.ts';
import type { DocumentLimits } from './document-limits.ts';
import { Unreadable } from './unreadable.ts';

/** Reads plain text: notes, tables with commas, source code. */
export function readText(bytes: Uint8Array, claims: Claims, limits: DocumentLimits): string {
  refuseFalseClaim(claims, 'text');
  const { text, note } = decodeText(bytes, claims.charset);
  if (text.trim() === '') throw new Unreadable('is empty: it contains only white space');
  return wholeText(text, limits, note);
}

/** A sign-in page is no PDF, whatever its name claims. */
export function refuseFalseClaim({ binary }: Claims, really: string): void {
  if (binary === null) return;
  throw new Unreadable(
    `should be ${binary}, but the server sent ${really}; check that the link leads to the file itself`,
  );
}
