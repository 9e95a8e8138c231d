const MEBIBYTE = 2 ** 20;
const GIBIBYTE = 2 ** 30;
const PEBIBYTE = 2 ** 50;
const DAY_SECONDS = 86_400;

/** A limit that operators can set, to a whole number in the unit at the end of the setting's name. */
interface LimitSetting {
  readonly setting: string;
  /** The default, in that unit. */
  readonly value: number;
  readonly min: number;
  readonly max: number;
  /** Converts that unit to the limit's unit. */
  readonly scale?: number;
}

/** All limits of the server. Its type, the defaults and the settings are derived from it. */
const LIMITS = {
  bodyBytes: { setting: 'RUNWIRE_MAX_BODY_BYTES', value: 32 * MEBIBYTE, min: 1024, max: 256 * MEBIBYTE },
  bodyValues: { setting: 'RUNWIRE_MAX_BODY_VALUES', value: 10_000, min: 100, max: 10_000_000 },
  bodyDepth: { value: 64 },
  messageCharacters: { setting: 'RUNWIRE_MAX_MESSAGE_CHARACTERS', value: 1_000_000, min: 1, max: 256 * MEBIBYTE },
  userContextBytes: { setting: 'RUNWIRE_MAX_USER_CONTEXT_BYTES', value: 256 * 1024, min: 1, max: 256 * MEBIBYTE },
  /** Maximum size of one inline image, decoded. */
  imageBytes: { setting: 'RUNWIRE_MAX_IMAGE_BYTES', value: 20 * MEBIBYTE, min: 1, max: 256 * MEBIBYTE },
  /** Maximum size of one fetched attachment, and the fetch's time limit. Half of `attachmentsBytes`: an owner may hold no more if there are several. */
  attachmentBytes: { setting: 'RUNWIRE_MAX_ATTACHMENT_BYTES', value: 20 * MEBIBYTE, min: 1, max: 128 * MEBIBYTE },
  attachmentMs: { setting: 'RUNWIRE_MAX_ATTACHMENT_SECONDS', value: 30, min: 1, max: DAY_SECONDS, scale: 1000 },
  /**
   * Maximum pages of a PDF that is sent as text, maximum characters of the text of a file, and the time limit of the
   * conversion.
   */
  attachmentPages: { setting: 'RUNWIRE_MAX_ATTACHMENT_PAGES', value: 500, min: 1, max: 100_000 },
  attachmentCharacters: { setting: 'RUNWIRE_MAX_ATTACHMENT_CHARACTERS', value: 200_000, min: 1, max: 10_000_000 },
  conversionMs: { setting: 'RUNWIRE_MAX_CONVERSION_SECONDS', value: 30, min: 1, max: DAY_SECONDS, scale: 1000 },
  /**
   * Bytes of attachments that are being fetched or read on this node; if there are several owners, each has at most
   * half.
   */
  attachmentsBytes: { value: 256 * MEBIBYTE },
  /** The model steps of all agents of a run. */
  stepsPerRun: { setting: 'RUNWIRE_MAX_STEPS', value: 50, min: 1, max: 10_000 },
  /** How deep delegations may be nested, how many hand-offs a run may have, and how much of an output a model gets. */
  delegationDepth: { value: 5 },
  handOffs: { value: 10 },
  toolOutputCharacters: { value: 40_000 },
  /** Heap and buffers of the process of an agency. Node itself needs 50 MiB. */
  agencyMemoryMib: { setting: 'RUNWIRE_AGENCY_MEMORY_MIB', value: 512, min: 64, max: 1_048_576 },
  /** How long the event loop of the process of an agency may give no answer. */
  agencySilenceMs: { value: 30_000 },
  /** Other nodes fence a node that sent no heartbeat for this time. The node itself starts no call then. */
  leaseMs: { value: 8_000 },
  beatMs: { value: 2_000 },
  /** How many attempts a run gets if the processes that execute it crash. 1 ends a run whose server died. */
  maxAttempts: { setting: 'RUNWIRE_MAX_ATTEMPTS', value: 3, min: 1, max: 1000 },
  /** Tokens that admission reserves for the instructions and the answer, besides the prompt's text. 0 reserves only for the prompt's text. */
  reserveTokens: { setting: 'RUNWIRE_RESERVE_TOKENS', value: 1000, min: 0, max: 999_999_999 },
  /** For runs whose integration has no setting. */
  maxRunSeconds: { setting: 'RUNWIRE_MAX_RUN_SECONDS', value: 900, min: 1, max: DAY_SECONDS },
  modelSilenceMs: { setting: 'RUNWIRE_MAX_SILENCE_SECONDS', value: 120, min: 1, max: DAY_SECONDS, scale: 1000 },
  /** Active runs on this node; if there are several owners, each has at most half. */
  activeRuns: { setting: 'RUNWIRE_MAX_ACTIVE_RUNS', value: 2000, min: 1, max: 1_000_000 },
  disconnectMs: { value: 10_000 },
  /** How long running streams may continue after the process got the signal to end. */
  drainMs: { setting: 'RUNWIRE_DRAIN_SECONDS', value: 30, min: 0, max: DAY_SECONDS, scale: 1000 },
  /** How long, after that, runs may continue to the end of their step, if other nodes can take them over. */
  handOverMs: { setting: 'RUNWIRE_HAND_OVER_SECONDS', value: 30, min: 0, max: DAY_SECONDS, scale: 1000 },
  /** Bytes of bodies that are being read on this node; if there are several owners, each has at most half. */
  bodiesBytes: { value: 256 * MEBIBYTE },
  /** Bytes of large list pages that are not sent yet on this node; of several owners, each has at most half. */
  pagesBytes: { value: 256 * MEBIBYTE },
  /** What a run may have at most that is compared with another one: steps, and bytes of their JSON. */
  comparedSteps: { value: 2000 },
  comparedBytes: { value: 4 * MEBIBYTE },
  bodyThreadBytes: { value: MEBIBYTE },
  cancelPatienceMs: { value: 10_000 },
  verifiedTokens: { value: 10_000 },
  flushMs: { value: 100 },
  chunkBytes: { value: 64 * 1024 },
  heldBytes: { value: 256 * 1024 },
  /**
   * Maximum bytes of events that are not stored yet, of one run and of all runs of this node. Beyond it models are not
   * read.
   */
  unstoredRunBytes: { value: MEBIBYTE },
  unstoredBytes: { value: 256 * MEBIBYTE },
  pageBytes: { value: 64 * 1024 },
  unsentBytes: { value: 128 * 1024 },
  /** How long a reader may be too slow before its stream is cut. */
  slowReaderMs: { value: 60_000 },
  heartbeatMs: { value: 10_000 },
  /** Open streams on this node: of a member (with client tokens), of a key (without client tokens), of an owner. */
  streamsPerMember: { setting: 'RUNWIRE_MAX_STREAMS_PER_MEMBER', value: 20, min: 1, max: 1_000_000 },
  streamsPerKey: { setting: 'RUNWIRE_MAX_STREAMS_PER_KEY', value: 500, min: 1, max: 1_000_000 },
  streamsPerOwner: { setting: 'RUNWIRE_MAX_STREAMS_PER_OWNER', value: 1000, min: 1, max: 1_000_000 },
  /** The longest time between two looks of a node at the schedules. */
  schedulesMs: { value: 5_000 },
  accountsVersionMs: { value: 2_000 },
  /** How long the caches of accounts are trusted after the last read of that version. */
  accountsTrustedMs: { value: 5_000 },
  /** How long a request waits for the store to look up its key and integration. */
  accountsPatienceMs: { value: 5_000 },
  /** How long an ended run's events are stored before they are compacted. 0 compacts a run at the next sweep after its end. */
  logMs: { setting: 'RUNWIRE_LOG_DAYS', value: 7, min: 0, max: 36_500, scale: DAY_SECONDS * 1000 },
  /** How long the audit log keeps an event. */
  auditMs: { setting: 'RUNWIRE_AUDIT_DAYS', value: 365, min: 1, max: 36_500, scale: DAY_SECONDS * 1000 },
  sweepMs: { value: 600_000 },
  /** How often the loop of the search index looks for runs that have ended. */
  searchMs: { value: 1_000 },
  /** The least time between two rewrites of the embedded database by erasures; 0 if none waits. 0: each erasure rewrites the database. */
  eraseRewriteMs: { setting: 'RUNWIRE_ERASE_REWRITE_MINUTES', value: 10, min: 0, max: DAY_SECONDS / 60, scale: 60_000 },
  /** How long a stored file without references is kept. */
  unusedBlobMs: { value: 86_400_000 },
  /** How long an upload's sender may send nothing, and how long one upload may take. */
  uploadIdleMs: { value: 20_000 },
  uploadMs: { value: 1_800_000 },
  /** How long any other request may take to arrive, headers and body, and how long its sender may send nothing. */
  requestMs: { setting: 'RUNWIRE_MAX_REQUEST_SECONDS', value: 120, min: 1, max: DAY_SECONDS, scale: 1000 },
  requestIdleMs: { setting: 'RUNWIRE_MAX_REQUEST_IDLE_SECONDS', value: 20, min: 1, max: DAY_SECONDS, scale: 1000 },
  /** How long an upload may continue after its form expired; the form counts towards the quota until then. */
  uploadGraceMs: { value: 300_000 },
  /** How long a stopped node stays listed. */
  goneNodeMs: { value: 86_400_000 },
  /** Time limits of S3: to connect, without a byte, for one request with its retries, and for a whole file. */
  s3ConnectMs: { value: 3_000 },
  s3SilenceMs: { value: 8_000 },
  s3RequestMs: { value: 30_000 },
  s3TransferMs: { value: 300_000 },
  /** The window of models whose window is not known. */
  modelWindowTokens: { setting: 'RUNWIRE_MODEL_WINDOW', value: 128_000, min: 1000, max: 999_999_999 },
  /** Maximum bytes of the files of one integration; 0 for no limit. 0: no quota. */
  mountQuotaBytes: { setting: 'RUNWIRE_MOUNT_QUOTA_BYTES', value: 10 * GIBIBYTE, min: 0, max: PEBIBYTE },
  /** The same for the files below one member's folder. */
  memberQuotaBytes: { setting: 'RUNWIRE_MEMBER_QUOTA_BYTES', value: GIBIBYTE, min: 0, max: PEBIBYTE },
  /** How long a command runs if the model names no time. The most that a model may ask for. */
  commandSeconds: { setting: 'RUNWIRE_SANDBOX_SECONDS', value: 60, min: 1, max: 300 },
  /** Memory of all processes of a command. Node, which interprets the commands of just-bash, needs 100 MiB itself. */
  commandMemoryMib: { setting: 'RUNWIRE_SANDBOX_MEMORY_MIB', value: 1024, min: 128, max: 1_048_576 },
  commandProcesses: { setting: 'RUNWIRE_SANDBOX_PROCESSES', value: 128, min: 8, max: 32_768 },
  /** Size of one file that a command writes. */
  commandFileBytes: { setting: 'RUNWIRE_SANDBOX_FILE_MIB', value: 256, min: 1, max: 1_048_576, scale: MEBIBYTE },
} as const satisfies Readonly<Record<string, LimitSetting | { readonly value: number }>>;

export type Limits = { readonly [Limit in keyof typeof LIMITS]: number };

const toDefault = ({ value, scale = 1 }: { readonly value: number; readonly scale?: number }) => value * scale;

export const DEFAULT_LIMITS = Object.fromEntries(
  Object.entries(LIMITS).map(([limit, entry]) => [limit, toDefault(entry)]),
) as Record<keyof Limits, number> satisfies Limits;

export const LIMIT_SETTINGS: readonly (LimitSetting & { readonly limit: keyof Limits })[] = Object.entries(
  LIMITS,
).flatMap(([limit, entry]) => ('setting' in entry ? [{ ...entry, limit: limit as keyof Limits }] : []));
