import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
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
  /** The folder that contains the agencies. Null for the demo agency. */
  readonly agenciesDir: string | null;
}

export interface EvalsOptions {
  /** An agency of `RUNWIRE_AGENCIES_DIR`, or the path of a folder. Null: all of `RUNWIRE_AGENCIES_DIR`. */
  readonly folder: string | null;
  /** False if the agencies run on another server: here their models may have no keys. */
  readonly loadsAgencies: boolean;
}

/** Reads the evals of the agencies that a server with these settings would load. Without a folder: those of the demo agency. */
export async function findEvals(env: Environment, { folder, loadsAgencies }: EvalsOptions): Promise<FoundEvals> {
  const dir = env.RUNWIRE_AGENCIES_DIR || null;
  if (folder === DEMO_AGENCY || (folder === null && dir === null)) {
    return { suites: demoEvals(), faults: [], agenciesDir: null };
  }
  const { agenciesDir, agency } = await locate(dir, folder);
  const all = await (loadsAgencies ? readLoaded(env, agenciesDir, agency) : readOnly(agenciesDir, agency));
  return {
    suites: all.flatMap(({ suites }) => suites),
    faults: all.flatMap(({ agency: id, faults }) => faults.map((fault) => `${id}/${faultLine(fault)}`)),
    agenciesDir,
  };
}

interface Location {
  readonly agenciesDir: string;
  /** Null for all agencies. */
  readonly agency: string | null;
}

async function locate(dir: string | null, folder: string | null): Promise<Location> {
  if (folder === null) return { agenciesDir: resolve(dir ?? '.'), agency: null };
  if (dir !== null && basename(folder) === folder && (await isFolder(join(dir, folder)))) {
    return { agenciesDir: resolve(dir), agency: folder };
  }
  const path = resolve(folder);
  if (!(await isFolder(path))) {
    throw new Error(`${folder} is not a folder; name an agency of RUNWIRE_AGENCIES_DIR, or the path of its folder.`);
  }
  const isAgency = (await readdir(path)).some((name) => name === 'agency.yaml' || name === 'agency.ts');
  return isAgency ? { agenciesDir: dirname(path), agency: basename(path) } : { agenciesDir: path, agency: null };
}

const isFolder = async (path: string) => (await stat(path).catch(() => null))?.isDirectory() === true;

type AgencyEvals = FolderEvals & { readonly agency: string };

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
