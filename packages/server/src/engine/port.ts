import type { StoredAttachment } from '../domain/attachment.ts';
import type { RunEvent } from '../domain/events.ts';
import type { RequestTrace } from '../domain/request-trace.ts';
import type { CancelMode } from '../domain/run-state.ts';
import type { SandboxFile } from '../domain/sandbox-file.ts';
import type { JournalledStep } from '../domain/step.ts';
import type { ModelUsage, Usage } from '../domain/usage.ts';

/** What a run that died with its process goes on from. */
export interface ResumedFrom {
  /** The journal, in the order of its events. */
  readonly steps: readonly JournalledStep[];
  /** Of all earlier attempts, what is void included. */
  readonly usage: Usage;
  readonly byModel: readonly ModelUsage[];
  /** It was let go at the end of a step: a call without an outcome was not begun. */
  readonly betweenSteps: boolean;
  readonly createdAt: number;
  /** Of its first attempt. */
  readonly startedAt: number;
}

/** What the engine needs of a run that was admitted or taken over. The rows are authoritative; this saves a second read. */
export interface AdmittedRun {
  readonly runId: string;
  /** The request that admitted it. */
  readonly trace: RequestTrace;
  readonly attempt: number;
  /** The owner of the integration: the run takes from its share of the node's budgets. */
  readonly ownerId: string;
  readonly integrationId: string;
  readonly consumerId: string | null;
  readonly chatKey: string;
  readonly chatId: string;
  readonly agency: string;
  readonly agent: string;
  readonly message: string;
  readonly attachments: readonly StoredAttachment[];
  readonly sandboxFiles: readonly SandboxFile[];
  /** Whether the chat has earlier messages. */
  readonly hasHistory: boolean;
  readonly userContext: unknown;
  readonly day: number;
  /** Null: the installation's setting. */
  readonly maxRunSeconds: number | null;
  readonly onDisconnect: 'continue' | 'cancel';
  /** Whether copies of what is fetched are kept as long as the chat. */
  readonly keepAttachments: boolean;
  /** The first event of this attempt, stored already: `meta`, or `resumed`. */
  readonly opening: RunEvent;
  /** Null: this is its first attempt. */
  readonly resumed: ResumedFrom | null;
}

export interface RunEngine {
  /**
   * Returns with the run's stop handle and log in place; the run itself goes on by itself, once it is let go. Not where
   * this server has stopped its runs already: then it is left as they are.
   */
  start(run: AdmittedRun, letGo?: Promise<void>): void;
  /** False where this node does not run it. */
  stop(runId: string, mode: CancelMode): boolean;
  /** Settles when the run has ended here; null where this node does not run it. */
  ended(runId: string): Promise<void> | null;
}
