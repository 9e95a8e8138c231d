import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiClient, StreamReader } from '@runwire/test-kit';
import type { Frames } from './resumed-run.ts';

const AGAIN_MS = 200;

/**
 * What a client does whose stream was cut: asks again behind what it has, at whichever node, until it has `end`. Null
 * where that is not so in time.
 */
export async function reattach(
  seen: StreamReader,
  runId: string,
  integration: string,
  nodes: readonly ApiClient[],
  withinMs: number,
): Promise<Frames | null> {
  await seen.over;
  const frames = [...seen.frames];
  let reader: StreamReader | null = null;
  let isLate = false;
  const late = setTimeout(() => {
    isLate = true;
    reader?.cut();
  }, withinMs);
  for (let place = 0; frames.at(-1)?.event !== 'end'; place += 1) {
    if (isLate) return null;
    const api = nodes[place % nodes.length] as ApiClient;
    reader = await api.events(runId, frames.at(-1)?.id ?? 0, integration).catch(() => null);
    if (isLate) reader?.cut();
    await reader?.over;
    const more = reader === null || reader.status !== 200 ? [] : reader.frames;
    frames.push(...more);
    if (more.length === 0) await sleep(AGAIN_MS);
  }
  clearTimeout(late);
  return frames.slice(seen.frames.length);
}
