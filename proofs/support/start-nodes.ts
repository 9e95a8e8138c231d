import { fileURLToPath } from 'node:url';
import { NodeGroup, type NodeGroupOptions } from '@runwire/test-kit';

const entry = fileURLToPath(new URL('./server-process.ts', import.meta.url));

/** Of short forms: whoever dies or stands still is taken for dead after 3 s in place of 8. */
export const SHORT_LEASE = { leaseMs: 3000, beatMs: 750 };

/**
 * Several real servers on one PostgreSQL, each in a process of its own, with the fault that the proof was told to plant;
 * `each` gives one what the others have not.
 */
export function startNodes(
  count: number,
  fault: string | null,
  options: Omit<NodeGroupOptions, 'entry' | 'fault'>,
  each?: (place: number) => Partial<NodeGroupOptions>,
): Promise<NodeGroup> {
  return NodeGroup.start(count, { ...options, entry, ...(fault === null ? {} : { fault }) }, each);
}
