/*
 * A test file is a proof at full scale: `npm run prove -- <name>` runs it in its process with large numbers, and with a
 * planted fault if it is given one. The gate runs the same file with small numbers.
 */

/** Returns `small` in the gate and in a proof's short form, `full` at full scale. */
export const scale = <T>(small: T, full: T): T => (process.env.TEST_SCALE === 'full' ? full : small);

/** True in the gate, which is smaller than the short form of a proof in a few tests. */
export const inGate = (): boolean => process.env.TEST_SCALE === undefined;

/** The fault that every server of this process gets, unless a test gives it its own; null without one. */
export const plantedFault = (): string | null => process.env.TEST_FAULT ?? null;

/** How many servers share one PostgreSQL (`--nodes`); null for one server on the embedded store. */
export const givenNodes = (): number | null =>
  process.env.TEST_NODES === undefined ? null : Number(process.env.TEST_NODES);

const sums = new Map<string, number>();

/** Adds to the figures that a proof prints. */
export function count(figures: Readonly<Record<string, number>>): void {
  for (const [key, value] of Object.entries(figures)) sums.set(key, (sums.get(key) ?? 0) + value);
}

/** The figures that this process's tests have counted. */
export const counted = (): Readonly<Record<string, number>> => Object.fromEntries(sums);
