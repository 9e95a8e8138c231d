/**
 * Returns the largest length to which long texts can be shortened so that all of them fit together: texts that are shorter
 * than it stay whole. Infinity if all fit as they are.
 */
export function evenLimit(lengths: readonly number[], total: number): number {
  const sorted = [...lengths].sort((one, other) => one - other);
  let left = total;
  for (const [index, length] of sorted.entries()) {
    const share = Math.floor(left / (sorted.length - index));
    if (length > share) return Math.max(0, share);
    left -= length;
  }
  return Number.POSITIVE_INFINITY;
}

/** Returns the beginning of a text, with at most so many bytes. No character is cut in half. */
export function cutBytes(text: string, mostBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= mostBytes) return text;
  let end = Math.max(0, mostBytes);
  // The bytes within a character begin with the bits 10.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}
