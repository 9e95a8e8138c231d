import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { agencyFolders } from '../agencies/agencies.ts';
import { DEMO_AGENCY, demoEvals } from '../agencies/evals/demo-evals.ts';
import { type EvalSuite, type FolderEvals, readEvals } from '../agencies/evals/read-evals.ts';
import { faultLine } from '../agencies/fault.ts';
import { OpenedModels } from '../compose/open-models.ts';
import { openProcesses } from '../compose/open-processes.ts';
import { type Environment, readConfig } from '../config/read-config.ts';
import { createLogger } from '../telemetry/logger.ts';
import { inspectAgencies } from './inspect-agencies.ts';

export interface FoundEvals {
  readonly suites: readonly EvalSuite[];
  /** One line each, with file, line and column. */
  readonly faults: readonly string[];
}

export interface EvalsOptions {
  /** One agency. Null: all of `RUNWIRE_AGENCIES_DIR`. */
  readonly agency: string | null;
  /** False if the agencies run on another server: here their models may have no keys. */
  readonly loadsAgencies: boolean;
}

/** Reads the evals of the agencies that a server with these settings would load. Without a folder: those of the demo agency. */
export async function findEvals(env: Environment, { agency, loadsAgencies }: EvalsOptions): Promise<FoundEvals> {
  const dir = env.RUNWIRE_AGENCIES_DIR || null;
  if (agency === DEMO_AGENCY || (agency === null && dir === null)) return { suites: demoEvals(), faults: [] };
  if (dir === null) throw new Error('Set RUNWIRE_AGENCIES_DIR to the folder of agencies.');
  const folder = resolve(dir);
  const path = agency === null ? folder : join(folder, agency);
  if ((await stat(path).catch(() => null))?.isDirectory() !== true) {
    throw new Error(`${path} is not a folder; name an agency of RUNWIRE_AGENCIES_DIR.`);
  }
  return toFound(await (loadsAgencies ? readLoaded(env, folder, agency) : readOnly(folder, agency)));
}

type AgencyEvals = FolderEvals & { readonly agency: string };

function toFound(all: readonly AgencyEvals[]): FoundEvals {
  return {
    suites: all.flatMap(({ suites }) => suites),
    faults: all.flatMap(({ agency, faults }) => faults.map((fault) => `${agency}/${faultLine(fault)}`)),
  };
}

async function readOnly(folder: string, only: string | null): Promise<readonly AgencyEvals[]> {
  const found: AgencyEvals[] = [];
  for (const agency of only === null ? await agencyFolders(folder) : [only]) {
    found.push({ agency, ...(await readEvals(join(folder, agency), agency, null, null)) });
  }
  return found;
}

async function readLoaded(env: Environment, folder: string, only: string | null): Promise<readonly AgencyEvals[]> {
  const { config, secrets } = readConfig({ ...env, RUNWIRE_AGENCIES_DIR: folder, RUNWIRE_AGENCIES_WATCH: undefined });
  const { limits } = config;
  const logger = createLogger('silent');
  using processes = openProcesses(config, secrets, { limits, logger, metrics: null });
  await using models = new OpenedModels(config, secrets, { limits, logger, processes });
  await models.load();
  const inspected = await inspectAgencies(folder, config, secrets, { models, processes }, only);
  return inspected.map(({ id, evals, faults }) => ({ agency: id, suites: evals, faults }));
}
