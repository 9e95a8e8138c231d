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
