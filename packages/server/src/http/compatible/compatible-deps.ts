import type { FetchAllow } from '@runwire/guarded-fetch/url-rules';
import type { FastifyInstance } from 'fastify';
import type { CompatibleSettings, SettingsByIntegration } from '../../accounts/compatible-settings.ts';
import type { CreateChatDeps } from '../../admission/create-chat.ts';
import type { Agencies } from '../../agencies/agencies.ts';
import type { Chats } from '../../chats/chats.ts';
import type { RunId } from '../../domain/ids.ts';
import type { EventLog } from '../../eventlog/event-log.ts';
import type { CancelDeps } from '../../runs/cancel-run.ts';
import type { ContinuedRun } from '../../runs/continued-runs.ts';
import type { RunReads } from '../../runs/read-runs.ts';
import type { RunRoutesDeps } from '../routes/runs.ts';
import type { Streams } from '../run-stream.ts';
import type { StreamLimits } from '../stream-limits.ts';
import type { CompatibleStarts } from './compatible-starts.ts';

/** What the routes of compatible APIs use. */
export interface CompatibleDeps {
  readonly app: FastifyInstance;
  readonly settings: SettingsByIntegration;
  readonly starts: CompatibleStarts;
  readonly agencies: Agencies;
  readonly runReads: RunReads;
  readonly steps: RunRoutesDeps['steps'];
  readonly chats: Chats;
  readonly blobs: CreateChatDeps['blobs'];
  readonly cancel: CancelDeps;
  readonly eventLog: EventLog;
  readonly streams: Streams;
  readonly streamLimits: StreamLimits;
  readonly fetchAllow: FetchAllow;
  readonly publicUrl: string | null;
  /** The runs whose answer a run continues, oldest first. */
  readonly continued: (runId: RunId) => Promise<readonly ContinuedRun[]>;
}

/** The names of the entry points of the integration's agency; empty if the agency is broken or missing. */
export function entryPoints(
  { agencies }: Pick<CompatibleDeps, 'agencies'>,
  { agency }: CompatibleSettings,
): readonly string[] {
  const known = agencies.entryPoints(agency);
  return Array.isArray(known) ? known : [];
}
