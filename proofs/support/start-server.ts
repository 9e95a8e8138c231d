import { fileURLToPath } from 'node:url';
import { ServerProcess } from '@runwire/server/testing';

type SpawnOptions = Parameters<typeof ServerProcess.start>[0];

const entry = fileURLToPath(new URL('./server-process.ts', import.meta.url));
/** Half of a start is the loading of modules; a proof that starts a hundred servers does it once. */
const compileCache = fileURLToPath(new URL('../../.work/compile-cache', import.meta.url));

/** The real server in a process of its own, with the fault that the proof was told to plant. */
export function startServer(
  fault: string | null,
  options: Omit<SpawnOptions, 'entry' | 'fault'>,
): Promise<ServerProcess> {
  const env = { NODE_COMPILE_CACHE: compileCache, ...options.env };
  return ServerProcess.start({ ...options, env, entry, ...(fault === null ? {} : { fault }) });
}
