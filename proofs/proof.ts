/** A promise that a command checks: test files at full scale. The gate runs them with small numbers, `*.full.test.ts` excepted. */
export interface Proof {
  /** `test/<name>.full.test.ts` by default. */
  readonly files?: readonly string[];
  /** The tests that find the planted faults, if not all do. The others do not run with a fault. */
  readonly test?: string | RegExp;
  /** How long it takes at full scale. `npm run check:full` runs the short form of a proof that takes more than 3 minutes. */
  readonly minutes: number;
  /** Every fault that can be planted, with the sentence that the proof must print then. */
  readonly faults: Readonly<Record<string, RegExp>>;
  /** Figures that must come out exactly, for a server on the embedded store. */
  readonly figures?: (scale: <T>(small: T, full: T) => T) => Readonly<Record<string, number>>;
  /** True if it limits short times or compares times. `npm run check:full` runs nothing beside it. */
  readonly measuresTime?: boolean;
  /** True if `--nodes` can be given. */
  readonly spreads?: boolean;
}
