import type { FairBudget } from '@runwire/lib/fair-budget.ts';
import type { Agencies } from '../agencies/agencies.ts';
import type { AgentFiles, FilesBelow } from '../agent/files-port.ts';
import type { OpenRunServers } from '../agent/mcp-port.ts';
import type { Model } from '../agent/ports.ts';
import type { RunLimits } from '../agent/run-scope.ts';
import type { CommandTools } from '../agent/tools/command-tools.ts';
import type { Workspace } from '../agent/workspace-port.ts';
import type { AttachmentTools } from '../attachments/attachment-tools.ts';
import type { Prices } from '../domain/model/prices.ts';
import type { AdmittedRun } from '../domain/run/admitted-run.ts';
import type { WaitAt } from '../domain/wait-points.ts';
import type { EventLog } from '../eventlog/event-log.ts';
import type { FileQuotas } from '../files/quotas.ts';
import type { DisconnectWatch } from '../runs/disconnect-watch.ts';
import type { EarlierNodes } from '../store/earlier-nodes.ts';
import type { Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import type { EventOutbox } from '../webhooks/event-outbox.ts';
import type { PromptSetting } from './build-prompt.ts';

/** Returns null if the model does not exist. */
export type FindModel = (id: string) => Model | null;

/** What an agency lets an agent see. */
export interface FilesScope {
  readonly below: FilesBelow;
  /** Null if the agency is not in a folder. */
  readonly agency: { readonly folder: string; readonly skills: readonly string[] } | null;
}

/** The tools of agents with a sandbox, and the files on which they work. */
export interface RunCommands {
  readonly tools: CommandTools;
  workspace(run: AdmittedRun, scope: FilesScope): Workspace;
}

export interface EngineDeps {
  readonly store: Store;
  readonly eventLog: EventLog;
  readonly earlierNodes: EarlierNodes;
  readonly outbox: EventOutbox;
  readonly agencies: Agencies;
  /** Returns the models as they are now. A run keeps what it got at its start. */
  readonly models: () => FindModel;
  /** The files that an agent of this run sees. */
  readonly files: (run: AdmittedRun, scope: FilesScope) => AgentFiles;
  /** What an agent of this run may change; null if this node has no sandbox. */
  readonly commands: RunCommands | null;
  /** The MCP servers that a run of this agency uses. */
  readonly mcp: OpenRunServers;
  readonly fileQuotas: FileQuotas;
  readonly prices: Prices;
  readonly loops: RunLimits;
  readonly prompt: PromptSetting;
  readonly attachments: AttachmentTools;
  /** The slots for active runs of this node, by owner. */
  readonly runSlots: FairBudget;
  /** Used if the integration has no setting. */
  readonly maxRunSeconds: number;
  readonly modelSilenceMs: number;
  readonly disconnects: DisconnectWatch;
  readonly retryMs: number;
  /** Returns null if a model or tool call may start now; otherwise resolves when it may, and rejects if the run stops. */
  readonly mayCall?: (signal: AbortSignal) => Promise<void> | null;
  readonly waitAt: WaitAt | undefined;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Null if traces are off. */
  readonly tracing: Tracing | null;
}
