import type { Prices } from '../domain/prices.ts';

/** What the server runs with; checked, frozen, and free of secrets. */
export interface Config {
  readonly host: string;
  readonly port: number;
  readonly dataDir: string;
  readonly publicUrl: string | null;
  readonly stagingUrl: string | null;
  /** Names of variables that hold a provider's key; this version asks no provider. */
  readonly unusedProviderKeys: readonly string[];
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error' | 'silent';
  readonly limits: Limits;
  /** What models cost in credits. */
  readonly prices: Prices;
}

export interface Secrets {
  /** `RUNWIRE_SECRET`; null: made in the data folder. */
  readonly secret: string | null;
  /** The hash of `RUNWIRE_API_KEY`; null: not set. */
  readonly apiKeyHash: Buffer | null;
}

export interface Limits {
  readonly bodyBytes: number;
  readonly bodyValues: number;
  readonly bodyDepth: number;
  readonly messageCharacters: number;
  readonly userContextBytes: number;
  readonly stepsPerRun: number;
  readonly cancelPatienceMs: number;
  readonly verifiedTokens: number;
  readonly flushMs: number;
  readonly chunkBytes: number;
  readonly heldBytes: number;
  readonly pageBytes: number;
  readonly unsentBytes: number;
  readonly drainMs: number;
  readonly heartbeatMs: number;
  readonly accountsVersionMs: number;
}

export const DEFAULT_LIMITS: Limits = {
  bodyBytes: 32 * 1024 * 1024,
  bodyValues: 10_000,
  bodyDepth: 64,
  messageCharacters: 1_000_000,
  userContextBytes: 256 * 1024,
  stepsPerRun: 50,
  cancelPatienceMs: 10_000,
  verifiedTokens: 10_000,
  flushMs: 100,
  chunkBytes: 64 * 1024,
  heldBytes: 256 * 1024,
  pageBytes: 64 * 1024,
  unsentBytes: 128 * 1024,
  drainMs: 60_000,
  heartbeatMs: 10_000,
  accountsVersionMs: 2_000,
};
