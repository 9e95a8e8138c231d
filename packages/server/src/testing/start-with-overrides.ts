import { compose } from '../compose/compose.ts';
import type { Overrides } from '../compose/overrides.ts';
import type { RunningServer } from '../compose/running-server.ts';
import { readConfig } from '../config/read-config.ts';
import { createLogger } from '../telemetry/logger.ts';

/**
 * Starts the real server in this process. It has a file of its own because `Overrides` contains types of other packages,
 * which the published declarations must not name.
 */
export async function startWithOverrides(
  env: Readonly<Record<string, string>>,
  overrides: Overrides,
): Promise<RunningServer> {
  const { config, secrets } = readConfig(env);
  const logger = overrides.logger ?? createLogger('silent');
  const onFatal = (error: unknown) => {
    throw error;
  };
  const server = await compose(config, secrets, onFatal, { ...overrides, logger });
  // The first sweep would delete the bytes of a request that is not admitted yet, so it ends before the first request.
  if (overrides.limits?.unusedBlobMs === 0) await server.probes.sweepBlobs().catch(() => {});
  return server;
}
