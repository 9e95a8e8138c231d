import type { AgencyDraft } from './agency-draft.ts';
import type { AgencyFolder } from './agency-folder.ts';
import type { Faults } from './fault.ts';
import { loadModules } from './load-modules.ts';
import { readDefinition } from './read-definition.ts';
import { sourcePlace } from './source-place.ts';

export const TYPESCRIPT_FILE = 'agency.ts';

/** Loads `agency.ts`, whose default export is an agency. Throws `AgencyBroken`. */
export async function readTypeScriptAgency(folder: AgencyFolder, faults: Faults): Promise<AgencyDraft> {
  const [exports = {}] = await loadModules(folder, [TYPESCRIPT_FILE], faults);
  const text = await folder.read(TYPESCRIPT_FILE);
  const places = {
    agency: sourcePlace(TYPESCRIPT_FILE, text),
    agent: (name: string) => sourcePlace(TYPESCRIPT_FILE, text, name),
  };
  return readDefinition(exports.default, 'typescript', places, faults);
}
