import { fileURLToPath } from 'node:url';
import { fenceServers, ServerProcess } from '@runwire/test-kit';

type SpawnOptions = Parameters<typeof ServerProcess.start>[0];

const entry = fileURLToPath(new URL('./server-process.ts', import.meta.url));

/**
 * The real server in a process of its own, with the fault that the proof was told to plant. The one before it on this data
 * folder is gone.
 */
export async function startServer(
  fault: string | null,
  options: Omit<SpawnOptions, 'entry' | 'fault'>,
): Promise<ServerProcess> {
  await fenceServers(options.dataDir);
  return ServerProcess.start({ ...options, entry, ...(fault === null ? {} : { fault }) });
}
