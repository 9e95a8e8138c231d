import type { ServerProblem } from '../mcp/server-problem.ts';
import type { SandboxChoice } from './choose-sandbox.ts';

/** A composed server: what its process, tests and proofs can do with it. */
export interface RunningServer extends AsyncDisposable {
  /**
   * Admits no new run. Resolves when all runs and streams have ended, or after the time limit. If other nodes can take
   * over, longer runs are handed over first, each at the end of its step.
   */
  drain(): Promise<void>;
  /** An address of this machine at which it answers. */
  readonly url: string;
  /** `host:port` as it listens, such as `0.0.0.0:8787`. */
  readonly address: string;
  /** The address that serves the metrics without a key; null if there is none. */
  readonly metricsUrl: string | null;
  /** The key that is printed once, at the first start; null at later starts. */
  readonly apiKey: string | null;
  /** The set-up link of the first owner, known once; null if that owner has a password or a link. */
  readonly setupLink: string | null;
  /** True if the first owner has no password yet. */
  readonly awaitsSetUp: boolean;
  /** The integration to try first; null unless this is the first start. */
  readonly firstIntegration: string | null;
  /** The place of the model of agencies that name none, for people; null if the model has no provider. */
  readonly modelLocation: string | null;
  /** The agencies of `RUNWIRE_AGENCIES_DIR` at the start. `problem` is null, or why the agency is broken. */
  readonly agencies: readonly { readonly id: string; readonly problem: string | null }[];
  /**
   * True if an agency of the folder uses the offline model, or if there is none: then requests can only name the demo
   * agency.
   */
  readonly usesOfflineModel: boolean;
  /** One per MCP server that is shared by all runs: resolves when its first try to connect has ended. */
  readonly mcpProblems: readonly Promise<ServerProblem | null>[];
  readonly sandbox: Pick<SandboxChoice, 'info' | 'reason'>;
  /** Runs that the last stop left unfinished: how many were resumed, and how many were ended. */
  readonly resumedRuns: number;
  readonly endedRuns: number;
  readonly probes: {
    readonly activeRuns: () => number;
    readonly openStreams: () => number;
    readonly fullStreams: () => number;
    readonly unstoredBytes: () => number;
    /** Bytes of bodies that are being read or parsed, and of images that are not stored yet. */
    readonly heldBodyBytes: () => number;
    /** Bytes reserved for attachments that are being fetched or read. */
    readonly attachmentsBytes: () => number;
    readonly syncMs: number;
    /** Compacts runs that are old enough, immediately. Resolves to the number of runs. */
    readonly sweepEvents: () => Promise<number>;
    /** Deletes stored files that were unused long enough, immediately. Resolves to the number of files. */
    readonly sweepBlobs: () => Promise<number>;
    /** Deletes old upload forms, and files of integrations that were deleted long enough ago. Resolves to their number. */
    readonly sweepFiles: () => Promise<number>;
    /** Deletes nodes that stopped long enough ago, immediately. Resolves to the number of nodes. */
    readonly sweepNodes: () => Promise<number>;
    readonly sweepRollups: () => Promise<number>;
    /** Deletes transient chats that are due. */
    readonly sweepTransients: () => Promise<number>;
    readonly sweepDefinitions: () => Promise<number>;
    readonly sweepWebhooks: () => Promise<number>;
    /** Deletes old ticks of schedules. */
    readonly sweepTicks: () => Promise<number>;
    /** Works on all due schedules that no other node works on. */
    readonly lookAtSchedules: () => Promise<void>;
    /** Deletes sessions, set-up links and failed sign-ins that ended by their time. Resolves to their number. */
    readonly sweepSignIns: () => Promise<number>;
    /** Deletes old audit events, and those of deleted owners. */
    readonly sweepAudit: () => Promise<number>;
  };
}
