import { fileURLToPath } from 'node:url';
import { NodeGroup, type NodeGroupOptions } from '@runwire/server/testing';

const entry = fileURLToPath(new URL('./server-process.ts', import.meta.url));

/** Several real servers on one PostgreSQL, each in a process of its own; `each` gives one what the others have not. */
export function startNodes(
  count: number,
  options: Omit<NodeGroupOptions, 'entry'>,
  each?: (place: number) => Partial<NodeGroupOptions>,
): Promise<NodeGroup> {
  return NodeGroup.start(count, { ...options, entry }, each);
}
