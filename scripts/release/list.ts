import { hash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A file that is uploaded to a registry. */
export interface PackedFile {
  readonly name: string;
  readonly version: string;
  readonly path: string;
  readonly bytes: number;
  /** As npm writes it: `sha512-` and the digest in base64. */
  readonly integrity: string;
  readonly files: readonly { readonly path: string; readonly size: number }[];
}

/** What a release publishes. The paths begin with the release's folder. */
export interface ReleaseList {
  /** Each package of npm is after the packages that it depends on. */
  readonly packages: readonly PackedFile[];
  readonly python: readonly PackedFile[];
  /** The bill of materials and the licences. */
  readonly papers: readonly Pick<PackedFile, 'path' | 'integrity'>[];
}

const listPath = (folder: string) => join(folder, 'release.json');

/** As npm writes it: `sha512-` and the digest in base64. */
export const fileIntegrity = (path: string) => `sha512-${hash('sha512', readFileSync(path), 'base64')}`;

/** Writes the list to the folder, and returns its integrity. */
export function writeList(folder: string, list: ReleaseList): string {
  writeFileSync(listPath(folder), `${JSON.stringify(list, null, 1)}\n`);
  return fileIntegrity(listPath(folder));
}

/** Reads the list. Throws if it or a file differs from what the build wrote, or if the folder has another file. */
export function readList(folder: string, integrity: string | undefined): ReleaseList {
  if (fileIntegrity(listPath(folder)) !== integrity)
    throw new Error(`${listPath(folder)} is not the list of the job that built the packages (RELEASE_INTEGRITY).`);
  const list: ReleaseList = JSON.parse(readFileSync(listPath(folder), 'utf8'));
  const expected = new Map(
    [...list.packages, ...list.python, ...list.papers].map((file) => [file.path, file.integrity]),
  );
  const found = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => path !== listPath(folder));
  const wrong = [
    ...found.filter((path) => fileIntegrity(path) !== expected.get(path)),
    ...[...expected.keys()].filter((path) => !found.includes(path)),
  ];
  if (wrong.length > 0) throw new Error(`Not as the job that built the packages has listed it: ${wrong.join(', ')}.`);
  return list;
}
