import type { SandboxFile } from '@runwire/models';
import type { StoredAttachment } from '../attachment/attachment.ts';
import type { FileScope } from '../file/file-access.ts';
import type { ChatId, ChatKey, IntegrationId, OwnerId, RunId } from '../ids.ts';
import type { ModelUsage, Usage } from '../model/usage.ts';
import type { ClientTool } from '../question/client-tool.ts';
import type { Continuation } from '../question/question.ts';
import type { RequestTrace } from '../request-trace.ts';
import { isScheduleRequestId } from '../schedule/tick-request.ts';
import type { RunEvent } from './events.ts';
import type { RunExtras } from './run-extras.ts';
import type { JournalledStep } from './step.ts';

/** The columns of a run that never change. */
export interface RunIdentity {
  readonly runId: RunId;
  readonly integrationId: IntegrationId;
  readonly consumerId: string | null;
  readonly chatKey: ChatKey;
  readonly chatId: ChatId;
  readonly agency: string;
  readonly agent: string;
  /** The version of the agency that admission checked; null for runs of earlier versions. */
  readonly agencyVersion: string | null;
  /** The day of the usage totals. */
  readonly day: number;
  readonly createdAt: number;
  /** The run that this one reruns, or null. A run for an eval has its own id. */
  readonly rerunOf: RunId | null;
}

/** The settings of an integration that its runs use. */
export interface RunSettings {
  /** Null if the setting of the installation counts. */
  readonly maxRunSeconds: number | null;
  readonly onDisconnect: 'continue' | 'cancel';
  /** True if copies of fetched attachments are stored as long as the chat exists. */
  readonly keepAttachments: boolean;
  /** `provider/model`, for agents that name none. */
  readonly model: string | null;
  /** The files that the run sees. It stays the same if the integration changes during the run. */
  readonly files: FileScope;
}

/** The value of `max_run_seconds` if the setting of the installation counts. */
export const RUN_SECONDS_BY_SETTING = 0;

export function runSettings(
  row: {
    readonly max_run_seconds: number;
    readonly on_disconnect: 'continue' | 'cancel';
    readonly keep_attachments: number;
    readonly integration_model: string | null;
  },
  files: FileScope,
  { usageRequestId, extras }: { readonly usageRequestId: string | null; readonly extras: RunExtras },
): RunSettings {
  return {
    maxRunSeconds: row.max_run_seconds === RUN_SECONDS_BY_SETTING ? null : row.max_run_seconds,
    // A run that starts without a reader has none to lose.
    onDisconnect: isScheduleRequestId(usageRequestId) || extras.startsUnread === true ? 'continue' : row.on_disconnect,
    keepAttachments: row.keep_attachments === 1,
    model: extras.rerun?.model ?? row.integration_model,
    files,
  };
}

/** From where an orphaned run is resumed, or a rerun that keeps steps begins. */
export interface ResumePoint {
  /** The journal, in its events' order. */
  readonly steps: readonly JournalledStep[];
  /** The number of the last step that earlier attempts began, as far as it is stored. */
  readonly begun: number;
  /** The usage of all earlier attempts, including the steps that are repeated. */
  readonly usage: Usage;
  readonly byModel: readonly ModelUsage[];
  /** True if the run was handed over at the end of a step: a call without an outcome was never started. */
  readonly betweenSteps: boolean;
  readonly createdAt: number;
  /** The first attempt's start. */
  readonly startedAt: number;
}

/** The state in which an attempt of a run starts. */
export interface AttemptStart {
  /** The request that admitted the run; empty in later attempts. */
  readonly trace: RequestTrace;
  readonly attempt: number;
  /** The node that executes the attempt. */
  readonly nodeId: string;
  /** True if the run's admission has made the chat, so the chat has no state. */
  readonly isNewChat: boolean;
  /** This attempt's first event: `meta` or `resumed`. */
  readonly opening: RunEvent;
  /** False if the first flush, step or end of the run stores the opening. */
  readonly isOpeningStored: boolean;
  /** Null in the first attempt, unless it is a rerun that keeps steps. */
  readonly resumed: ResumePoint | null;
  /** The journal of the run that this one repeats. Null if it is not needed. */
  readonly original: readonly JournalledStep[] | null;
}

/** What the user sent, and where. */
export interface RunInput {
  /** The integration's owner, whose share of the node's budgets the run uses. */
  readonly ownerId: OwnerId;
  readonly message: string;
  readonly attachments: readonly StoredAttachment[];
  readonly sandboxFiles: readonly SandboxFile[];
  readonly userContext: unknown;
  /** True if the chat has earlier messages. */
  readonly hasHistory: boolean;
  /** The open questions of the chat that the run settles; null if there were none. */
  readonly continuation: Continuation | null;
  readonly clientTools: readonly ClientTool[];
  readonly extras: RunExtras;
}

/**
 * What the engine needs of a run that was admitted or taken over. The rows are authoritative; this record saves the
 * engine a second read.
 */
export interface AdmittedRun extends RunIdentity, RunSettings, RunInput, AttemptStart {}

/** Builds the record: admission calls it for a run's first attempt, a takeover for every later one. */
export function admittedRun(
  identity: RunIdentity,
  settings: RunSettings,
  input: RunInput,
  start: AttemptStart,
): AdmittedRun {
  return { ...identity, ...settings, ...input, ...start };
}
