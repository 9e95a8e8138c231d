import { fileURLToPath } from 'node:url';
import { NodeGroup, type NodeGroupOptions } from '@runwire/test-kit';

const entry = fileURLToPath(new URL('./server-process.ts', import.meta.url));

/** For short forms: a node that dies or freezes is declared dead after 3 s instead of 8. */
export const SHORT_LEASE = { leaseMs: 3000, beatMs: 750 };

/**
 * Starts several real servers on one PostgreSQL, each in its own process, with the fault that the proof plants. `each`
 * gives a single server options that the others do not have.
 */
export function startNodes(
  count: number,
  fault: string | null,
  options: Omit<NodeGroupOptions, 'entry' | 'fault'>,
  each?: (place: number) => Partial<NodeGroupOptions>,
): Promise<NodeGroup> {
  return NodeGroup.start(count, { ...options, entry, ...(fault === null ? {} : { fault }) }, each);
}
