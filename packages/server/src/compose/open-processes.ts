import { AgencyProcesses } from '../agencies/process/agency-processes.ts';
import type { Config, Secrets } from '../config/config.ts';
import type { Limits } from '../config/limits.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';

interface ProcessParts {
  readonly limits: Limits;
  readonly logger: Logger;
  readonly metrics: Metrics | null;
}

/** Prepares the processes that run the agency code. */
export function openProcesses(
  { s3 }: Pick<Config, 's3'>,
  { agencyVariables }: Secrets,
  { limits, logger, metrics }: ProcessParts,
): AgencyProcesses {
  return new AgencyProcesses({
    variables: agencyVariables(s3 !== null),
    memoryMib: limits.agencyMemoryMib,
    silenceMs: limits.agencySilenceMs,
    resultCharacters: limits.toolOutputCharacters,
    logger,
    metrics,
  });
}
