/** Returns `small` in the short form and `full` at full scale. */
export type Scale = <T>(small: T, full: T) => T;

export interface ProofOptions {
  /** The planted fault, with which the proof must fail; null to run without one. */
  readonly fault: string | null;
  readonly scale: Scale;
  /** How many servers share one PostgreSQL; null for one server on the embedded store. */
  readonly nodes: number | null;
}

/** A promise of the product that a command can check. */
export interface Proof {
  readonly name: string;
  /** How long it takes at full scale. `npm run check:full` runs the short form of a proof that takes more than 3 minutes. */
  readonly minutes: number;
  /** Every fault that can be planted, with the sentence that the proof must print then. */
  readonly faults: Readonly<Record<string, RegExp>>;
  /** Figures that must come out exactly, for a server on the embedded store. */
  readonly figures?: (scale: Scale) => Readonly<Record<string, number>>;
  /** True if it limits short times or compares times. `npm run check:full` runs nothing beside it. */
  readonly measuresTime?: boolean;
  /** True if `--nodes` can be given. */
  readonly spreads?: boolean;
  /** Resolves to the figures that it proved. Throws a `Shortfall` if a figure is wrong, `LeftOut` if it cannot run here. */
  run(options: ProofOptions): Promise<Record<string, number>>;
}
