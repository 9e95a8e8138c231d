import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AgencyDraft, WrittenCode } from './agency-draft.ts';
import type { Faults } from './fault.ts';
import { type DefinitionLocations, readDefinition } from './read-definition.ts';
import { sourceLocation } from './source-location.ts';

export const TYPESCRIPT_FILE = 'agency.ts';

/** Reads the default export of `agency.ts`, in the agency's process. Throws `AgencyBroken`. */
export async function readTypeScriptDefinition(
  folder: string,
  file: string,
  exports: Readonly<Record<string, unknown>>,
  faults: Faults,
): Promise<AgencyDraft<WrittenCode>> {
  const text = await readFile(join(folder, file), 'utf8');
  return readDefinition(exports.default, 'typescript', sourceLocations(file, text), faults);
}

export const sourceLocations = (file: string, text: string): DefinitionLocations => ({
  agency: sourceLocation(file, text),
  agent: (name) => sourceLocation(file, text, name),
});
