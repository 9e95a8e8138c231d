import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { Fault } from '../../packages/server/src/agencies/fault.ts';
import type { AgenciesFolder, Files } from './agencies-folder.ts';

/** An agency that cannot be loaded, and its faults. */
export interface BrokenAgency {
  readonly name: string;
  readonly files: Files;
  readonly links: Files;
  readonly faults: readonly Fault[];
}

const FILE = new URL('../data/broken-agencies.yaml', import.meta.url);

interface WrittenAgency extends Pick<BrokenAgency, 'name' | 'files'> {
  readonly links?: Files;
  readonly faults: readonly (Pick<Fault, 'file' | 'message'> & { readonly line?: number; readonly column?: number })[];
}

export const brokenAgencies: readonly BrokenAgency[] = (parse(readFileSync(FILE, 'utf8')) as WrittenAgency[]).map(
  ({ name, files, links = {}, faults }) => ({
    name,
    files,
    links,
    faults: faults.map(({ file, line = null, column = null, message }) => ({ file, line, column, message })),
  }),
);

/** Writes the agency into a folder of agencies. */
export function writeBroken(folder: AgenciesFolder, id: string, { files, links }: BrokenAgency): void {
  folder.write(Object.fromEntries(Object.entries(files).map(([file, text]) => [`${id}/${file}`, text])));
  for (const [path, target] of Object.entries(links)) folder.link(`${id}/${path}`, target);
}
