import { fileURLToPath } from 'node:url';
import { ServerProcess } from '@runwire/server/testing';

type SpawnOptions = Parameters<typeof ServerProcess.start>[0];

const entry = fileURLToPath(new URL('./server-process.ts', import.meta.url));

/** The real server in a process of its own, with the fault that the proof was told to plant. */
export function startServer(
  fault: string | null,
  options: Omit<SpawnOptions, 'entry' | 'fault'>,
): Promise<ServerProcess> {
  return ServerProcess.start({ ...options, entry, ...(fault === null ? {} : { fault }) });
}
