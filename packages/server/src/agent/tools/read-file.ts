import { wholePath } from '../../domain/mount-path.ts';
import type { AgentFile, OpenedAgentFile } from '../files-port.ts';
import { Excerpt } from './excerpt.ts';
import { fileTool } from './file-tool.ts';
import { bytes, checkModelFilePath } from './model-path.ts';
import { LineSplitter, NotText, textOf } from './text-lines.ts';

interface ReadInput {
  readonly path: string;
  readonly first_line?: number;
  readonly lines?: number;
  readonly first_character?: number;
}

export const READ_LIMITS = {
  lines: 500,
  mostLines: 2000,
  /** The limit per line. If only one line is requested, it may take all characters. */
  lineCharacters: 4000,
  characters: 40_000,
  /** The limit for bytes that are read, including the skipped ones: three times the largest upload. */
  bytes: 64 * 1024 * 1024,
} as const;

const PIECE_CHARACTERS = 16 * 1024;

export const readFile = fileTool<ReadInput>({
  name: 'read_file',
  description: 'Reads a text file by lines. If the file is long, it returns a part and a note about how to continue.',
  properties: {
    path: { type: 'string', description: 'Full path of the file: /app/mnt/…' },
    first_line: { type: 'integer', minimum: 1, description: 'The line to begin with; 1 if not given.' },
    lines: {
      type: 'integer',
      minimum: 1,
      maximum: READ_LIMITS.mostLines,
      description: `How many lines to read; ${READ_LIMITS.lines} if not given.`,
    },
    first_character: {
      type: 'integer',
      minimum: 1,
      description:
        'The character of the first line to begin with; for lines that are too long to be returned in one piece.',
    },
  },
  required: ['path'],
  async execute(files, input, signal) {
    const checked = checkModelFilePath(input.path);
    if ('problem' in checked) return checked.problem;
    await using opened = await files.open(checked.below);
    if (opened === null) return `There is no file ${input.path}.`;
    try {
      return await excerptOf(opened, input, signal);
    } catch (error) {
      if (!(error instanceof NotText)) throw error;
      const { contentType, size } = opened.file;
      return `${input.path} is not UTF-8 text: it is ${contentType} of ${bytes(size)}, and this tool reads only text.`;
    }
  },
});

async function excerptOf({ file, bytes: all }: OpenedAgentFile, input: ReadInput, signal: AbortSignal) {
  const { first_line: firstLine = 1, lines = READ_LIMITS.lines, first_character: firstCharacter = 1 } = input;
  const { characters } = READ_LIMITS;
  const lineCharacters = lines === 1 ? characters : READ_LIMITS.lineCharacters;
  const excerpt = new Excerpt({ firstLine, firstCharacter, lines, lineCharacters, characters });
  const splitter = new LineSplitter(PIECE_CHARACTERS);
  let read = 0;
  for await (const { text, size } of textOf(all)) {
    signal.throwIfAborted();
    for (const piece of splitter.push(text)) {
      excerpt.take(piece);
      if (excerpt.isFull) break;
    }
    read += size;
    if (excerpt.isFull) break;
    if (read >= READ_LIMITS.bytes && read < file.size) {
      excerpt.stop();
      return formatExcerpt(file, firstLine, excerpt, `[Only the first ${read} bytes of the file can be read.]`);
    }
  }
  if (!excerpt.isFull) for (const piece of splitter.end()) excerpt.take(piece);
  return formatExcerpt(file, firstLine, excerpt, '');
}

function formatExcerpt(file: AgentFile, firstLine: number, excerpt: Excerpt, limit: string): string {
  const path = wholePath(file.path);
  const { lines, cut, lastLine, isFull } = excerpt;
  const about = `${path} (${file.contentType}, ${bytes(file.size)})`;
  if (lines.length === 0) {
    if (limit !== '') return `${about}: line ${firstLine} is after this part. ${limit}`;
    return lastLine === 0
      ? `${about} is empty.`
      : `${about} has only ${lastLine === 1 ? '1 line' : `${lastLine} lines`}.`;
  }
  const shownTo = firstLine + lines.length - 1;
  const which = firstLine === shownTo ? `line ${firstLine}` : `lines ${firstLine} to ${shownTo}`;
  const [long] = cut;
  const notes = [
    limit,
    isFull && limit === '' ? `[There is more: call again with first_line ${shownTo + 1}.]` : '',
    long === undefined
      ? ''
      : `[To read on in line ${long.line}, call again with first_line ${long.line}, lines 1 and first_character ${long.shownTo + 1}.]`,
  ];
  return [
    `${about}, ${which}${isFull ? '' : ` of ${lastLine}`}:`,
    ...lines,
    ...notes.filter((note) => note !== ''),
  ].join('\n');
}
