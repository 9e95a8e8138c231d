import type { FetchAllow, Range } from '@runwire/guarded-fetch/url-rules';
import type { ProviderApi } from '@runwire/models';
import type { AgencyVariables } from '../domain/agency-variables.ts';
import type { Prices } from '../domain/prices.ts';
import { StartRefused } from '../domain/start-refused.ts';

/** A setting that cannot be used. The message is printed and the process ends. */
export class SettingRefused extends StartRefused {
  override readonly name = 'SettingRefused';
}

/** The settings of the server: checked, frozen, and without secrets. */
export interface Config {
  readonly host: string;
  readonly port: number;
  readonly dataDir: string;
  readonly publicUrl: string | null;
  readonly stagingUrl: string | null;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error' | 'silent';
  readonly limits: Limits;
  /** `provider/model`, for agencies that name no model. */
  readonly model: string;
  /** The providers whose models can be used. */
  readonly providers: readonly ProviderConfig[];
  /** PostgreSQL; null for the embedded store. */
  readonly database: DatabaseConfig | null;
  /** S3 for files; null if files are on disk, in the data folder. */
  readonly s3: S3Config | null;
  /** The listener that serves metrics without a key; null if only the main listener serves them, with a key. */
  readonly metrics: MetricsConfig | null;
  /** The price of each model in credits. */
  readonly prices: Prices;
  /** Hosts other than the public internet from which files may be fetched. */
  readonly fetchAllow: FetchAllow;
  /** The proxies whose `X-Forwarded-For` names the client. */
  readonly trustedProxies: readonly Range[];
  /** The folder of agencies; null if there is none. */
  readonly agenciesDir: string | null;
  /** True if changes in that folder are loaded while the server runs. */
  readonly agenciesWatch: boolean;
  readonly sandbox: SandboxConfig;
  /** The integration that the first start creates on the agency of the same name; null if none. */
  readonly integration: string | null;
}

export interface SandboxConfig {
  readonly kind: 'auto' | 'bubblewrap' | 'just-bash' | 'exec' | 'off';
  /** The absolute path of the program of `exec`; otherwise null. */
  readonly program: string | null;
  /** How many commands may run concurrently on this node. */
  readonly slots: number;
}

export interface MetricsConfig {
  readonly host: string;
  readonly port: number;
}

export interface ProviderConfig {
  /** The first part of the ids of its models. */
  readonly name: string;
  readonly api: ProviderApi;
  /** Without a slash at its end. */
  readonly baseUrl: string;
  /** False if no setting names the provider, which needs none. */
  readonly isSet: boolean;
}

export interface DatabaseConfig {
  /** Host and database, for people. */
  readonly location: string;
  /** The number of connections, without the writer's. */
  readonly pool: number;
  /** True if connections go through a pooler in transaction mode. */
  readonly pooled: boolean;
}

export interface S3Config {
  readonly bucket: string;
  /** Without a slash at its end; null for Amazon S3. */
  readonly endpoint: string | null;
  readonly region: string;
  /** `direct` if clients send upload forms to S3, `through` if they send them to this server. */
  readonly uploads: 'direct' | 'through';
}

export interface Secrets {
  /** `RUNWIRE_SECRET`; null if it is not set, and a secret in the data folder or in the database is used. */
  readonly secret: string | null;
  /** The hash of `RUNWIRE_API_KEY`; null if it is not set. */
  readonly apiKeyHash: Buffer | null;
  /** `DATABASE_URL`; null if it is not set. */
  readonly databaseUrl: string | null;
  /** `OPENAI_API_KEY` and the like, by the name of the provider. */
  readonly providerKeys: ReadonlyMap<string, string>;
  /** Reads a variable that `providers.yaml` or `mcp` of an agency names, or that MCP servers get. Returns null if it is not set. */
  readonly variable: (name: string) => string | null;
  /** The environment of the processes of agencies. */
  readonly agencyVariables: (usesS3: boolean) => AgencyVariables;
}

export interface Limits {
  readonly bodyBytes: number;
  readonly bodyValues: number;
  readonly bodyDepth: number;
  readonly messageCharacters: number;
  readonly userContextBytes: number;
  /** Maximum size of one inline image, decoded. */
  readonly imageBytes: number;
  /** Maximum size of one fetched attachment, and the time limit of the fetch. */
  readonly attachmentBytes: number;
  readonly attachmentMs: number;
  /**
   * Maximum pages of a PDF that is sent as text, maximum characters of the text of a file, and the time limit of the
   * conversion.
   */
  readonly attachmentPages: number;
  readonly attachmentCharacters: number;
  readonly conversionMs: number;
  /**
   * Bytes of attachments that are being fetched or read on this node; if there are several owners, each has at most
   * half.
   */
  readonly attachmentsBytes: number;
  /** The model steps of all agents of a run. */
  readonly stepsPerRun: number;
  /** How deep delegations may be nested, how many hand-offs a run may have, and how much of an output a model gets. */
  readonly delegationDepth: number;
  readonly handOffs: number;
  readonly toolOutputCharacters: number;
  /** Heap and buffers of the process of an agency. */
  readonly agencyMemoryMib: number;
  /** How long the event loop of the process of an agency may give no answer. */
  readonly agencySilenceMs: number;
  /** Other nodes fence a node that sent no heartbeat for this time. The node itself starts no call then. */
  readonly leaseMs: number;
  readonly beatMs: number;
  /** How many attempts a run gets if the processes that execute it crash. */
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
  readonly drainMs: number;
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
  /**
   * Maximum bytes of events that are not stored yet, of one run and of all runs of this node. Beyond it models are not
   * read.
   */
  readonly unstoredRunBytes: number;
  readonly unstoredBytes: number;
  readonly pageBytes: number;
  readonly unsentBytes: number;
  /** How long a reader may be too slow before its stream is cut. */
  readonly slowReaderMs: number;
  readonly heartbeatMs: number;
  /** Open streams on this node: of a member (with client tokens), of a key (without client tokens), of an owner. */
  readonly streamsPerMember: number;
  readonly streamsPerKey: number;
  readonly streamsPerOwner: number;
  readonly accountsVersionMs: number;
  /** How long the caches of accounts are trusted after the last read of that version. */
  readonly accountsTrustedMs: number;
  /** How long a request waits for the store to look up its key and integration. */
  readonly accountsPatienceMs: number;
  /** How long the events of an ended run are stored before they are compacted. */
  readonly logMs: number;
  readonly sweepMs: number;
  /** The least time between two rewrites of the embedded database by erasures; 0 if none waits. */
  readonly eraseRewriteMs: number;
  /** How long a stored file without references is kept. */
  readonly unusedBlobMs: number;
  /** How long the sender of an upload may send nothing, and how long one upload may take. */
  readonly uploadIdleMs: number;
  readonly uploadMs: number;
  /** How long any other request may take to arrive, headers and body, and how long its sender may send nothing. */
  readonly requestMs: number;
  readonly requestIdleMs: number;
  /** How long an upload may continue after its form expired; the form counts towards the quota until then. */
  readonly uploadGraceMs: number;
  /** How long a stopped node stays listed. */
  readonly goneNodeMs: number;
  /** Time limits of S3: to connect, without a byte, for one request with its retries, and for a whole file. */
  readonly s3ConnectMs: number;
  readonly s3SilenceMs: number;
  readonly s3RequestMs: number;
  readonly s3TransferMs: number;
  /** The window of models whose window is not known. */
  readonly modelWindowTokens: number;
  /** Maximum bytes of the files of one integration; 0 for no limit. */
  readonly mountQuotaBytes: number;
  /** The same for the files below the folder of one member. */
  readonly memberQuotaBytes: number;
  /** How long a command runs if the model names no time. */
  readonly commandSeconds: number;
  /** Memory of all processes of a command. */
  readonly commandMemoryMib: number;
  readonly commandProcesses: number;
  /** Size of one file that a command writes. */
  readonly commandFileBytes: number;
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
  delegationDepth: 5,
  handOffs: 10,
  toolOutputCharacters: 40_000,
  agencyMemoryMib: 512,
  agencySilenceMs: 30_000,
  leaseMs: 8_000,
  beatMs: 2_000,
  maxAttempts: 3,
  reserveTokens: 1000,
  maxRunSeconds: 900,
  modelSilenceMs: 120_000,
  activeRuns: 2000,
  disconnectMs: 10_000,
  drainMs: 30_000,
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
  slowReaderMs: 60_000,
  heartbeatMs: 10_000,
  streamsPerMember: 20,
  streamsPerKey: 500,
  streamsPerOwner: 1000,
  accountsVersionMs: 2_000,
  accountsTrustedMs: 5_000,
  accountsPatienceMs: 5_000,
  logMs: 7 * 86_400_000,
  sweepMs: 600_000,
  eraseRewriteMs: 600_000,
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
  mountQuotaBytes: 10 * 1024 ** 3,
  memberQuotaBytes: 1024 ** 3,
  commandSeconds: 60,
  commandMemoryMib: 1024,
  commandProcesses: 128,
  commandFileBytes: 256 * 1024 ** 2,
};
