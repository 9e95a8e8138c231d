import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MODULE = 'held-tool-agency.ts';
const EXPORTS = {
  gate: 'heldToolAgency',
  team: 'heldTeamAgency',
  asking: 'askingAgency',
  keeping: 'keepingAgency',
  lasting: 'lastingAgency',
} as const;

/** An agency of the test kit that can be a folder. */
export type FolderAgency = keyof typeof EXPORTS;

/** Writes agencies of the test kit as folders, so that their tools run in agency processes. */
export function writeAgencyFolders(path: string, names: readonly FolderAgency[]): void {
  for (const name of names) {
    const folder = join(path, name);
    mkdirSync(folder, { recursive: true });
    copyHeldTools(folder);
    writeFileSync(join(folder, 'agency.ts'), `export { ${EXPORTS[name]} as default } from './${MODULE}';\n`);
  }
}

/** Copies the module with the tools `gate` and `gate_again` into an agency's folder. Returns its name. */
export function copyHeldTools(folder: string): string {
  copyFileSync(fileURLToPath(new URL(MODULE, import.meta.url)), join(folder, MODULE));
  return MODULE;
}
