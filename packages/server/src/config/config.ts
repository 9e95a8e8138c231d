import type { Prices } from '../domain/prices.ts';
import type { FetchAllow } from '../lib/url-rules/fetch-allow.ts';

/** What the server runs with; checked, frozen, and free of secrets. */
export interface Config {
  readonly host: string;
  readonly port: number;
  readonly dataDir: string;
  readonly publicUrl: string | null;
  readonly stagingUrl: string | null;
  /** Names of variables that hold the key of a provider that this version cannot ask. */
  readonly unusedProviderKeys: readonly string[];
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error' | 'silent';
  readonly limits: Limits;
  /** `provider/model`: what answers where an agency names no model of its own. */
  readonly model: string;
  /** How OpenAI, or a server that speaks as it does, is asked; null: it is not set up. */
  readonly openAi: OpenAiConfig | null;
  /** PostgreSQL in place of the embedded store; null: the embedded one. */
  readonly database: DatabaseConfig | null;
  /** Where files are kept in place of the disk; null: on the disk, in the data folder. */
  readonly s3: S3Config | null;
  /** Whether the data folder is one disk that all nodes see. */
  readonly sharedDisk: boolean;
  /** Where metrics are shown without a key; null: on the main listener alone, with one. */
  readonly metrics: MetricsConfig | null;
  /** What models cost in credits. */
  readonly prices: Prices;
  /** What files may be fetched from besides the public internet. */
  readonly fetchAllow: FetchAllow;
}

export interface MetricsConfig {
  readonly host: string;
  readonly port: number;
}

export interface OpenAiConfig {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly api: 'responses' | 'chat';
}

export interface DatabaseConfig {
  /** Host and database, to be printed. */
  readonly place: string;
  /** Connections besides the writer's. */
  readonly pool: number;
  /** It is reached through a pooler in transaction mode. */
  readonly pooled: boolean;
}

export interface S3Config {
  readonly bucket: string;
  /** Without a slash at its end; null: Amazon's own. */
  readonly endpoint: string | null;
  readonly region: string;
  /** Whether forms are sent to S3 itself, or to this server, which writes them through. */
  readonly uploads: 'direct' | 'through';
}

export interface Secrets {
  /** `RUNWIRE_SECRET`; null: made in the data folder, or in the database. */
  readonly secret: string | null;
  /** The hash of `RUNWIRE_API_KEY`; null: not set. */
  readonly apiKeyHash: Buffer | null;
  /** `DATABASE_URL`; null: not set. */
  readonly databaseUrl: string | null;
  /** `OPENAI_API_KEY`; null: not set. */
  readonly openAiKey: string | null;
}

export interface Limits {
  readonly bodyBytes: number;
  readonly bodyValues: number;
  readonly bodyDepth: number;
  readonly messageCharacters: number;
  readonly userContextBytes: number;
  /** Of one inline image, decoded. */
  readonly imageBytes: number;
  /** Of one attachment by URL as it is fetched, and how long that may take. */
  readonly attachmentBytes: number;
  readonly attachmentMs: number;
  /** Of a PDF that is sent as text, and of any text that is made of a file; how long that may take. */
  readonly attachmentPages: number;
  readonly attachmentCharacters: number;
  readonly conversionMs: number;
  /** Bytes of attachments that are being fetched or read on this node; if there are several owners, each has at most half. */
  readonly attachmentsBytes: number;
  readonly stepsPerRun: number;
  /** A node without a heartbeat for so long is dead for the others, and starts no call itself. */
  readonly leaseMs: number;
  readonly beatMs: number;
  /** How often a run is begun by processes that then die. */
  readonly maxAttempts: number;
  /** Tokens that admission reserves for the instructions and the answer, besides the text of the prompt. */
  readonly reserveTokens: number;
  /** For runs whose integration has no setting. */
  readonly maxRunSeconds: number;
  readonly modelSilenceMs: number;
  /** Active runs on this node; if there are several owners, each has at most half. */
  readonly activeRuns: number;
  readonly disconnectMs: number;
  /** How long running streams may continue after the process got the signal to end. */
  readonly shutdownMs: number;
  /** How long, after that, runs may continue to the end of their step, if other nodes can take them over. */
  readonly handOverMs: number;
  /** Bytes of bodies that are being read on this node; if there are several owners, each has at most half. */
  readonly bodiesBytes: number;
  /** Bytes of large list pages that are not sent yet on this node; of several owners, each has at most half. */
  readonly pagesBytes: number;
  readonly bodyThreadBytes: number;
  readonly cancelPatienceMs: number;
  readonly verifiedTokens: number;
  readonly flushMs: number;
  readonly chunkBytes: number;
  readonly heldBytes: number;
  /** Of one run, and of all runs of this node, said but not stored: from there on models are not listened to. */
  readonly unstoredRunBytes: number;
  readonly unstoredBytes: number;
  readonly pageBytes: number;
  readonly unsentBytes: number;
  readonly drainMs: number;
  readonly heartbeatMs: number;
  readonly accountsVersionMs: number;
  /** How long after the last reading of that version the caches of accounts are trusted. */
  readonly accountsTrustedMs: number;
  /** How long a request waits for the store to say whose key and integration it names. */
  readonly accountsPatienceMs: number;
  /** How long the events of an ended run are kept whole. */
  readonly logMs: number;
  readonly sweepMs: number;
  /** How long stored files stay that nothing refers to. */
  readonly unusedBlobMs: number;
  /** How long the sender of an upload may send nothing, and how long one upload may take. */
  readonly uploadIdleMs: number;
  readonly uploadMs: number;
  /** How long any other request may take to arrive, headers and body, and how long it may be without a byte. */
  readonly requestMs: number;
  readonly requestIdleMs: number;
  /** How long an upload may continue after its form expired; the form counts towards the quota until then. */
  readonly uploadGraceMs: number;
  /** How long a node that is gone stays listed. */
  readonly goneNodeMs: number;
  /** How long S3 may take for a connection, without a byte, for one request with all its attempts, and for a whole file. */
  readonly s3ConnectMs: number;
  readonly s3SilenceMs: number;
  readonly s3RequestMs: number;
  readonly s3TransferMs: number;
  /** Of models whose window is not known. */
  readonly modelWindowTokens: number;
  /** What the files of one integration may take; 0: as much as there is. */
  readonly mountQuotaBytes: number;
}

export const DEFAULT_LIMITS: Limits = {
  bodyBytes: 32 * 1024 * 1024,
  bodyValues: 10_000,
  bodyDepth: 64,
  messageCharacters: 1_000_000,
  userContextBytes: 256 * 1024,
  imageBytes: 20 * 1024 * 1024,
  attachmentBytes: 20 * 1024 * 1024,
  attachmentMs: 30_000,
  attachmentPages: 500,
  attachmentCharacters: 200_000,
  conversionMs: 30_000,
  attachmentsBytes: 256 * 1024 * 1024,
  stepsPerRun: 50,
  leaseMs: 8_000,
  beatMs: 2_000,
  maxAttempts: 3,
  reserveTokens: 1000,
  maxRunSeconds: 900,
  modelSilenceMs: 120_000,
  activeRuns: 2000,
  disconnectMs: 10_000,
  shutdownMs: 30_000,
  handOverMs: 30_000,
  pagesBytes: 256 * 1024 * 1024,
  bodiesBytes: 256 * 1024 * 1024,
  bodyThreadBytes: 1024 * 1024,
  cancelPatienceMs: 10_000,
  verifiedTokens: 10_000,
  flushMs: 100,
  chunkBytes: 64 * 1024,
  heldBytes: 256 * 1024,
  unstoredRunBytes: 1024 * 1024,
  unstoredBytes: 256 * 1024 * 1024,
  pageBytes: 64 * 1024,
  unsentBytes: 128 * 1024,
  drainMs: 60_000,
  heartbeatMs: 10_000,
  accountsVersionMs: 2_000,
  accountsTrustedMs: 5_000,
  accountsPatienceMs: 5_000,
  logMs: 7 * 86_400_000,
  sweepMs: 600_000,
  unusedBlobMs: 86_400_000,
  uploadIdleMs: 20_000,
  uploadMs: 1_800_000,
  requestMs: 120_000,
  requestIdleMs: 20_000,
  uploadGraceMs: 300_000,
  goneNodeMs: 86_400_000,
  s3ConnectMs: 3_000,
  s3SilenceMs: 8_000,
  s3RequestMs: 30_000,
  s3TransferMs: 300_000,
  modelWindowTokens: 128_000,
  mountQuotaBytes: 0,
};
