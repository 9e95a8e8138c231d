import { type AgencyFolder, besideFile, FileRefused } from './agency-folder.ts';
import { type Faults, FILE_START, type Path, type Place, positionIn } from './fault.ts';
import { trimmed, unknownPlaceholder } from './instructions.ts';

export interface WrittenAt {
  readonly place: Place;
  readonly path: Path;
}

/** A text of one line that is probably the name of a file. */
const FILE_NAME = /^[^\s{}]+\.(?:md|txt)$/;

/**
 * Returns a text, or the text of the file that it names (`./x.md`), and checks its placeholders. Returns an empty text
 * and adds a fault if the file cannot be read.
 */
export async function readText(
  folder: AgencyFolder | null,
  written: string,
  at: WrittenAt,
  faults: Faults,
): Promise<string> {
  const { place, path } = at;
  if (folder === null || !FILE_NAME.test(written)) {
    const unknown = unknownPlaceholder(written);
    if (unknown !== null) faults.addOf(place, path, unknown.written, unknown.message);
    return trimmed(written);
  }
  if (!written.startsWith('.')) {
    faults.add(
      place,
      path,
      `\`${written}\` looks like the name of a file; write \`./${written.replace(/^\/+/, '')}\`, or a longer text.`,
    );
    return '';
  }
  const file = besideFile(place.file, written);
  try {
    const text = await folder.read(file);
    const unknown = unknownPlaceholder(text);
    if (unknown !== null) faults.addAt(file, positionIn(text, text.indexOf(unknown.written)), unknown.message);
    if (trimmed(text) === '') faults.addAt(file, FILE_START, 'The file is empty; write the instructions into it.');
    return trimmed(text);
  } catch (error) {
    if (!(error instanceof FileRefused)) throw error;
    faults.add(place, path, error.message);
    return '';
  }
}
