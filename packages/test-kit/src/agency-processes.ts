import { AgencyProcesses } from '@runwire/server/src/agencies/process/agency-processes.ts';
import { agencyVariables } from '@runwire/server/src/domain/agency-variables.ts';
import { createLogger } from '@runwire/server/src/telemetry/logger.ts';

/** The agency processes, for tests that load agencies without a server. */
export const agencyProcesses = (): AgencyProcesses =>
  new AgencyProcesses({
    variables: agencyVariables(process.env, false),
    memoryMib: 512,
    silenceMs: 30_000,
    resultCharacters: 40_000,
    logger: createLogger('silent'),
    metrics: null,
  });
