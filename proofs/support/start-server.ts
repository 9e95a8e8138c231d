import { fileURLToPath } from 'node:url';
import { fenceServers, ServerProcess } from '@runwire/test-kit';

type SpawnOptions = Parameters<typeof ServerProcess.start>[0];

const entry = fileURLToPath(new URL('./server-process.ts', import.meta.url));

/**
 * Starts the real server in its own process, with the fault that the proof plants. The previous server on this data
 * folder must have ended.
 */
export async function startServer(
  fault: string | null,
  options: Omit<SpawnOptions, 'entry' | 'fault'>,
): Promise<ServerProcess> {
  await fenceServers(options.dataDir);
  return ServerProcess.start({ ...options, entry, ...(fault === null ? {} : { fault }) });
}
