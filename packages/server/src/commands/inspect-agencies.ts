import { join } from 'node:path';
import { agencyFolders } from '../agencies/agencies.ts';
import { type EvalSuite, readEvals } from '../agencies/evals/read-evals.ts';
import { AgencyBroken, type Fault } from '../agencies/fault.ts';
import { serverLimits } from '../agencies/load-agency.ts';
import { loadFolder } from '../agencies/load-folder.ts';
import type { LoadedAgency } from '../agencies/loaded-agency.ts';
import type { AgencyProcesses } from '../agencies/process/agency-processes.ts';
import type { OpenedModels } from '../compose/open-models.ts';
import type { Config, Secrets } from '../config/config.ts';

/** An agency as a server with the same settings would load it. */
export interface InspectedAgency {
  readonly id: string;
  /** Null if the agency has faults. */
  readonly loaded: LoadedAgency | null;
  /** The faults of the agency, or of its evals. */
  readonly faults: readonly Fault[];
  /** The files without faults. */
  readonly evals: readonly EvalSuite[];
}

export interface InspectionParts {
  readonly models: OpenedModels;
  readonly processes: AgencyProcesses;
}

/** Loads a folder's agencies, or the one of it that `only` names. */
export async function inspectAgencies(
  folder: string,
  config: Config,
  { variable }: Secrets,
  { models, processes }: InspectionParts,
  only: string | null = null,
): Promise<InspectedAgency[]> {
  const setting = {
    models,
    processes,
    limits: serverLimits(config.limits),
    variable,
    hasSandbox: config.sandbox.kind !== 'off',
  };
  const inspected: InspectedAgency[] = [];
  for (const id of only === null ? await agencyFolders(folder) : [only]) {
    try {
      const loaded = await loadFolder(join(folder, id), id, setting);
      loaded.code?.end();
      const { suites, faults } = await readEvals(join(folder, id), id, loaded, models);
      inspected.push({ id, loaded, faults, evals: suites });
    } catch (error) {
      if (!(error instanceof AgencyBroken)) throw error;
      inspected.push({ id, loaded: null, faults: error.faults, evals: [] });
    }
  }
  return inspected;
}
