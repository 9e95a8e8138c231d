import { type AgencyFolder, besideFile, FileRefused } from './agency-folder.ts';
import { type Faults, FILE_START, type Location, type Path, positionIn } from './fault.ts';
import { trimmed, unknownInInstructions } from './instructions.ts';

export interface WrittenAt {
  readonly location: Location;
  readonly path: Path;
}

/** A text of one line that is probably a file's name. */
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
  const { location, path } = at;
  if (folder === null || !FILE_NAME.test(written)) {
    const unknown = unknownInInstructions(written);
    if (unknown !== null) faults.addPiece(location, path, unknown.written, unknown.message);
    return trimmed(written);
  }
  if (!written.startsWith('.')) {
    faults.add(
      location,
      path,
      `\`${written}\` looks like the name of a file; write \`./${written.replace(/^\/+/, '')}\`, or a longer text.`,
    );
    return '';
  }
  const file = besideFile(location.file, written);
  try {
    const text = await folder.read(file);
    const unknown = unknownInInstructions(text);
    if (unknown !== null) faults.addAt(file, positionIn(text, text.indexOf(unknown.written)), unknown.message);
    if (trimmed(text) === '') faults.addAt(file, FILE_START, 'The file is empty; write the instructions into it.');
    return trimmed(text);
  } catch (error) {
    if (!(error instanceof FileRefused)) throw error;
    faults.add(location, path, error.message);
    return '';
  }
}
