import { WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';

interface Reader<R> {
  until(holds: (reader: R) => boolean): Promise<void>;
}

/** Resolves when a reader has received what it must receive; throws a `Shortfall` after the limit. */
export const arrives = <R>(what: string, reader: Reader<R>, holds: (reader: R) => boolean, limitMs = WAIT_MS) =>
  within(what, limitMs, reader.until(holds));

/** The smallest value that this share of the values does not exceed, rounded. */
export const quantile = (values: readonly number[], share: number): number =>
  Math.round(values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? Number.NaN);
