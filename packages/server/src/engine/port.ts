import type { AttachedImage } from '../domain/attached-image.ts';
import type { RunEvent } from '../domain/events.ts';
import type { CancelMode } from '../domain/run-state.ts';

/** What the engine needs of a run that was just admitted; the rows are the truth, this saves reading them again. */
export interface AdmittedRun {
  readonly runId: string;
  /** The request that admitted it, as the log and `X-Request-Id` name it. */
  readonly requestId: string;
  readonly attempt: number;
  readonly integrationId: string;
  readonly consumerId: string | null;
  readonly chatKey: string;
  readonly chatId: string;
  readonly agency: string;
  readonly agent: string;
  readonly message: string;
  readonly images: readonly AttachedImage[];
  /** Whether the chat has earlier messages. */
  readonly hasHistory: boolean;
  readonly userContext: unknown;
  readonly day: number;
  /** Null: the installation's setting. */
  readonly maxRunSeconds: number | null;
  readonly onDisconnect: 'continue' | 'cancel';
  /** The event `meta`, stored by the admission. */
  readonly meta: RunEvent;
}

export interface RunEngine {
  /** Returns with the run's stop handle and log in place; the run itself goes on by itself. */
  start(run: AdmittedRun): void;
  /** False where this node does not run it. */
  stop(runId: string, mode: CancelMode): boolean;
  /** Settles when the run has ended here; null where this node does not run it. */
  ended(runId: string): Promise<void> | null;
}
