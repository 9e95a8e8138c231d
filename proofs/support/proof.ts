/** How a proof is run: as it stands, with a planted fault on which it must fail, or in the short form that tests run. */
export interface ProofOptions {
  readonly fault: string | null;
  readonly short: boolean;
  /** How many servers share one PostgreSQL; null: one server on the embedded store. */
  readonly nodes: number | null;
}

/** A promise of the product that a command can check. */
export interface Proof {
  readonly name: string;
  readonly faults: readonly string[];
  /** Whether `--nodes` can be given. */
  readonly spreads?: boolean;
  /** Resolves to the figures it proved; throws a `Shortfall` where one falls short, `LeftOut` where it cannot be run. */
  run(options: ProofOptions): Promise<Record<string, number>>;
}

/** What was promised was not found: one sentence that names both. */
export class Shortfall extends Error {
  override readonly name = 'Shortfall';
}

/** What the proof needs is not on this machine or in this clone: one sentence that says what. */
export class LeftOut extends Error {
  override readonly name = 'LeftOut';
}

/** Throws a `Shortfall` unless the number is the expected one; returns it for the figures. */
export function expectNumber(name: string, found: number, expected: number): number {
  if (found !== expected) throw new Shortfall(`${name}: expected ${expected}, found ${found}.`);
  return found;
}

/** Throws a `Shortfall` where the number is above its bound; returns it for the figures. */
export function expectAtMost(name: string, found: number, bound: number): number {
  if (!(found <= bound)) throw new Shortfall(`${name}: expected at most ${bound}, found ${found}.`);
  return found;
}

/** Throws a `Shortfall` where the number is under its bound; returns it for the figures. */
export function expectAtLeast(name: string, found: number, bound: number): number {
  if (!(found >= bound)) throw new Shortfall(`${name}: expected at least ${bound}, found ${found}.`);
  return found;
}

/** Throws a `Shortfall` unless both are equal as JSON. */
export function expectEqual(name: string, found: unknown, expected: unknown): void {
  const [left, right] = [JSON.stringify(found) ?? 'undefined', JSON.stringify(expected) ?? 'undefined'];
  if (left !== right) throw new Shortfall(`${name}: expected ${right.slice(0, 400)}, found ${left.slice(0, 400)}.`);
}

/** A wait with a limit: a proof that hangs proves nothing. */
export async function within<T>(what: string, limitMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Shortfall(`${what}: expected within ${limitMs} ms, found later.`)), limitMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
