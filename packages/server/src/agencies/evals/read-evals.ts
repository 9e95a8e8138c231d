import type { EvalCaseFile, EvalFile } from '@runwire/contract/schemas';
import { AgencyFolder, FileRefused } from '../agency-folder.ts';
import { checkEvalShape } from '../check-shape.ts';
import { type Fault, Faults, FILE_START, type Location } from '../fault.ts';
import type { LoadedAgency } from '../loaded-agency.ts';
import { readYaml } from '../yaml-text.ts';
import { type CaseContext, checkCase, checkNames } from './check-case.ts';
import { RECORDED_FILE, type RecordedRun, readRecorded } from './recorded-runs.ts';

export const EVALS_FOLDER = 'evals';

/** One file's cases. */
export interface EvalSuite {
  readonly agency: string;
  /** The path from the agency's folder. */
  readonly file: string;
  readonly name: string;
  readonly cases: readonly EvalCase[];
}

/** One case, with its file's defaults. */
export interface EvalCase extends EvalCaseFile {
  readonly repeat: number;
  /** How many repeats must pass. */
  readonly atLeast: number;
  /** The recorded run that `run` names. Null if the case has a message. */
  readonly recorded: RecordedRun | null;
}

export interface FolderEvals {
  readonly suites: readonly EvalSuite[];
  readonly faults: readonly Fault[];
}

/**
 * Reads and checks an agency's evals. They are not part of its version, so another `AgencyFolder` reads them. `loaded` is null if
 * the agency is not known here; then the names of agents, tools and models are not checked.
 */
export async function readEvals(
  path: string,
  agency: string,
  loaded: LoadedAgency | null,
  models: CaseContext['models'],
): Promise<FolderEvals> {
  const folder = await AgencyFolder.open(path);
  const names = (await folder.list(EVALS_FOLDER)).filter((name) => /\.ya?ml$/.test(name));
  const faults = new Faults();
  const recorded =
    names.length === 0 ? new Map() : await readRecorded(folder, `${EVALS_FOLDER}/${RECORDED_FILE}`, faults);
  const suites: EvalSuite[] = [];
  for (const name of names) {
    const suite = await readSuite(folder, `${EVALS_FOLDER}/${name}`, { agency: loaded, models, recorded }, faults);
    if (suite !== null) suites.push({ agency, ...suite });
  }
  return { suites, faults: faults.sorted };
}

/** Reads one file's text. Returns null and adds faults if it is wrong. */
export function readSuiteText(
  file: string,
  text: string,
  context: CaseContext,
  faults: Faults,
): Omit<EvalSuite, 'agency'> | null {
  const before = faults.count;
  const yaml = readYaml(file, text, faults);
  if (yaml === null) return null;
  const { value, location } = yaml;
  if (value === null) {
    faults.addAt(file, FILE_START, 'The file is empty; write at least `name` and `cases`.');
    return null;
  }
  if (!checkEvalShape(value, location, faults)) return null;
  checkNames(value, location, faults);
  const cases = value.cases.map((one, index) => toCase(value, one, { index, location, faults, context }));
  return faults.count > before ? null : { file, name: value.name, cases };
}

async function readSuite(folder: AgencyFolder, file: string, context: CaseContext, faults: Faults) {
  if (!file.endsWith('.yaml')) {
    faults.addAt(file, FILE_START, `Rename \`${file}\` to \`${file.replace(/\.yml$/, '.yaml')}\`.`);
    return null;
  }
  try {
    return readSuiteText(file, await folder.read(file), context, faults);
  } catch (error) {
    if (!(error instanceof FileRefused)) throw error;
    faults.addAt(file, FILE_START, error.message);
    return null;
  }
}

interface CasePlace {
  readonly index: number;
  readonly location: Location;
  readonly faults: Faults;
  readonly context: CaseContext;
}

function toCase(file: EvalFile, one: EvalCaseFile, { index, location, faults, context }: CasePlace): EvalCase {
  checkCase(one, ['cases', index], { location, faults, context });
  const repeat = one.repeat ?? file.repeat ?? 1;
  const atLeast = one.atLeast ?? file.atLeast ?? repeat;
  if (atLeast > repeat) {
    const path = one.atLeast === undefined ? ['atLeast'] : ['cases', index, 'atLeast'];
    faults.add(
      location,
      path,
      `\`atLeast\` is ${atLeast}, but \`${one.name}\` is run ${repeat} times; write at most ${repeat}.`,
    );
  }
  return { ...one, repeat, atLeast, recorded: one.run === undefined ? null : (context.recorded.get(one.run) ?? null) };
}
