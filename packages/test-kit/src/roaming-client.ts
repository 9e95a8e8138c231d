import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiClient, Frame, StreamReader } from '@runwire/server/testing';

const AGAIN_MS = 100;

export interface FollowedRun {
  readonly runId: string;
  /** The frames of all connections, each frame once. */
  readonly frames: readonly Frame[];
  /** The number of connections that were needed. */
  readonly connections: number;
}

/**
 * Reads a run to its `end`. After a cut it continues at the next node, after the last id. Rejects if the signal
 * aborts.
 */
export async function follow(
  first: StreamReader,
  nodes: () => readonly ApiClient[],
  integrationId: string,
  signal: AbortSignal,
): Promise<FollowedRun> {
  const runId = String(first.headers['x-run-id']);
  const frames: Frame[] = [];
  let reader: StreamReader | null = first;
  for (let connections = 1; ; connections += 1) {
    await reader?.over;
    if (reader?.status === 200) frames.push(...reader.frames);
    if (frames.at(-1)?.event === 'end') return { runId, frames, connections };
    await sleep(AGAIN_MS, undefined, { signal });
    const all = nodes();
    const api = all[connections % all.length] as ApiClient;
    reader = await api.events(runId, frames.at(-1)?.id ?? 0, integrationId).catch(() => null);
  }
}
