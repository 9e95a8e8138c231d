/** The folder above all files of an integration. It has no files itself. */
export const ROOT = '/app/mnt';

interface PathPart {
  readonly name: string;
  readonly path: string;
}

/** The folders from the root to this one. */
export function toParts(folder: string): readonly PathPart[] {
  const names = folder.slice(ROOT.length).split('/').filter(Boolean);
  const parts = names.map((name, index) => ({ name, path: [ROOT, ...names.slice(0, index + 1)].join('/') }));
  return [{ name: ROOT, path: ROOT }, ...parts];
}

export const getName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** For a sentence that is plain text: a name that changes the direction of writing does not change the words after it. */
export const isolated = (name: string): string => `\u2068${name}\u2069`;
