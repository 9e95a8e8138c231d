import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AgencyFolder } from './agency-folder.ts';
import { FILE_START, type Position, positionIn } from './fault.ts';
import { type ModuleFailure, OWN_SENTENCE } from './module-failure.ts';

export interface ModuleFault {
  readonly file: string;
  readonly position: Position;
  readonly message: string;
}

/** The fault of a module that could not be loaded: its position, and what to do. */
export async function moduleFault(
  folder: AgencyFolder,
  files: readonly string[],
  failure: ModuleFailure,
): Promise<ModuleFault> {
  return { ...(await findLocation(folder, files, failure)), message: toSentence(failure, folder.path) };
}

/** `file:///…/agency.ts?runwire=3:7:15`, or a path with `:7` at the start of a syntax error. */
const FRAME = /(file:\/\/[^\s()]*?|\/[^\s()]*?)(?:\?runwire=\d+)?:(\d+)(?::(\d+))?(?=[)\s]|$)/gm;
const IMPORT_FAILED = /^Cannot find (?:package|module) '([^']+)' imported from (.+?)(?:\?runwire=\d+)?$/m;

/** The first line of the stack that is in the agency's folder, or the import that failed. */
async function findLocation(
  folder: AgencyFolder,
  files: readonly string[],
  failure: ModuleFailure,
): Promise<Omit<ModuleFault, 'message'>> {
  const { code, message, stack } = failure;
  if (code === 'ERR_MODULE_NOT_FOUND') {
    const [, missing = '', importer = ''] = IMPORT_FAILED.exec(message) ?? [];
    const file = ownFile(folder.path, importer);
    if (file !== null) return { file, position: importPosition(await folder.read(file), missing) };
  }
  for (const [, url = '', line, column] of stack.matchAll(FRAME)) {
    const file = ownFile(folder.path, url);
    if (file === null) continue;
    return { file, position: { line: Number(line), column: Number(column ?? markedColumn(stack)) } };
  }
  return { file: files[0] ?? '', position: FILE_START };
}

/** A syntax error shows the line with marks below it, and no number of the column. */
function markedColumn(stack: string): number {
  return (/^( *)\^/m.exec(stack)?.[1]?.length ?? 0) + 1;
}

/** The path from the agency's folder, or null if the file is not the agency's own. */
function ownFile(folder: string, url: string): string | null {
  const file = relative(folder, url.startsWith('file:') ? fileURLToPath(url) : url).replaceAll('\\', '/');
  return file === '' || file.startsWith('..') || file.includes('node_modules/') ? null : file;
}

/** The position of the import of a package or a file. */
function importPosition(text: string, missing: string): Position {
  const name = missing.startsWith('/') ? missing.slice(missing.lastIndexOf('/') + 1) : missing;
  const found = new RegExp(`['"][^'"\n]*${RegExp.escape(name)}[^'"\n]*['"]`).exec(text);
  return found === null ? FILE_START : positionIn(text, found.index);
}

function toSentence({ message, code }: ModuleFailure, folder: string): string {
  const [first = ''] = message.split('\n');
  const short = first
    .replaceAll(`file://${folder}/`, '')
    .replaceAll(`${folder}/`, '')
    .replaceAll(/\?runwire=\d+/g, '');
  const reason = short.replace(/\.$/, '');
  switch (code) {
    case 'ERR_MODULE_NOT_FOUND': {
      const name = /package '([^']+)'/.exec(message)?.[1];
      if (name === '@openai/agents') {
        return 'Agents of `@openai/agents` cannot be used; write them with `@runwire/agency`, as docs/from-openai-agents.md shows.';
      }
      if (name !== undefined)
        return `The package \`${name}\` is not installed; run \`npm install ${name}\` in the agency's folder.`;
      const file = relative(folder, IMPORT_FAILED.exec(message)?.[1] ?? '');
      return `An imported file does not exist (\`${file}\`); write its name with its ending, such as \`./tools.ts\`.`;
    }
    case 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX':
      return `This TypeScript cannot be run as it is (${reason}); use only syntax that can be erased: no \`enum\`, no \`namespace\`.`;
    case 'ERR_INVALID_TYPESCRIPT_SYNTAX':
      return `This is not valid TypeScript: ${reason}.`;
    case OWN_SENTENCE:
      return message;
    default:
      return `The file could not be loaded: ${reason}.`;
  }
}
