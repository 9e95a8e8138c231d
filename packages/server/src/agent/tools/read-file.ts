import { shownPath } from '../../domain/file/agency-path.ts';
import type { AgentFile, OpenedAgentFile } from '../files-port.ts';
import { DocumentPages } from './document-pages.ts';
import { Excerpt } from './excerpt.ts';
import { fileTool } from './file-tool.ts';
import { bytes, checkModelFilePath } from './model-path.ts';
import { LineSplitter, NotText, type TextPiece, toText } from './text-lines.ts';

interface ReadInput {
  readonly path: string;
  readonly first_line?: number;
  readonly lines?: number;
  readonly first_character?: number;
  readonly first_page?: number;
  readonly pages?: number;
}

export const READ_LIMITS = {
  lines: 500,
  mostLines: 2000,
  /** The limit per line. If only one line is requested, it may take all characters. */
  lineCharacters: 4000,
  /** With the first line and the notes it is below the limit for tool outputs, 40 000. */
  characters: 38_000,
  /** The limit for bytes that are read, including the skipped ones: three times the largest upload. */
  bytes: 64 * 1024 * 1024,
} as const;

const PIECE_CHARACTERS = 16 * 1024;

export const readFile = fileTool<ReadInput>({
  name: 'read_file',
  description:
    'Reads a text file by lines, and a document (PDF, DOCX, XLSX, HTML, CSV) as text by lines or pages. If the file is long, it returns a part and a note about how to continue.',
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
    first_page: { type: 'integer', minimum: 1, description: 'The page of a PDF to begin with, instead of a line.' },
    pages: {
      type: 'integer',
      minimum: 1,
      description: 'How many pages of a PDF to read, instead of lines; as many as fit if not given.',
    },
  },
  required: ['path'],
  async execute(files, input, signal) {
    const checked = checkModelFilePath(input.path);
    if ('problem' in checked) return checked.problem;
    if (asksForPages(input) && asksForLines(input)) {
      return '`first_page` and `pages` cannot be combined with `first_line`, `lines` and `first_character`: ask for pages or for lines.';
    }
    await using opened = await files.open(checked.below);
    if (opened === null) return `There is no file ${input.path}.`;
    const { file, kind } = opened;
    if (kind.is === 'image') return imageSentence(input.path, file, kind);
    if (kind.is === 'other') {
      return `${input.path} is not text: it is ${file.contentType} of ${bytes(file.size)}, and this tool reads only text, PDF, DOCX, XLSX, HTML and CSV.`;
    }
    if (kind.is === 'text') {
      if (asksForPages(input)) return hasNoPages(input.path);
      try {
        return await toExcerpt(file, toText(opened.bytes), input, signal);
      } catch (error) {
        if (!(error instanceof NotText)) throw error;
        // Its first bytes were UTF-8, others are not.
      }
    }
    const converted = await opened.convert(signal);
    if ('problem' in converted) return `${input.path} ${converted.problem}.`;
    return await excerptOfDocument(file, converted.text, input, signal);
  },
});

const asksForPages = ({ first_page: firstPage, pages }: ReadInput) => firstPage !== undefined || pages !== undefined;
const asksForLines = ({ first_line: firstLine, lines, first_character: firstCharacter }: ReadInput) =>
  firstLine !== undefined || lines !== undefined || firstCharacter !== undefined;

const hasNoPages = (path: string) => `${path} has no pages: ask for lines, with first_line and lines.`;

function imageSentence(path: string, file: AgentFile, { mediaType, size }: ImageKind): string {
  const pixels = size === null ? '' : `, ${size.width} × ${size.height} pixels`;
  return `${path} is an image (${mediaType}${pixels}, ${bytes(file.size)}), which this tool cannot show; if you have the tool show_file, call it to see the image.`;
}

type ImageKind = Extract<OpenedAgentFile['kind'], { is: 'image' }>;

type LineRange = Pick<ReadInput, 'first_line' | 'lines' | 'first_character'>;

async function toExcerpt(
  file: AgentFile,
  text: AsyncIterable<TextPiece>,
  range: LineRange,
  signal: AbortSignal,
  pages: ShownPages | null = null,
): Promise<string> {
  const { first_line: firstLine = 1, lines = READ_LIMITS.lines, first_character: firstCharacter = 1 } = range;
  const { characters } = READ_LIMITS;
  const lineCharacters = lines === 1 ? characters : READ_LIMITS.lineCharacters;
  const excerpt = new Excerpt({ firstLine, firstCharacter, lines, lineCharacters, characters });
  const splitter = new LineSplitter(PIECE_CHARACTERS);
  let read = 0;
  for await (const { text: decoded, size } of text) {
    signal.throwIfAborted();
    for (const piece of splitter.push(decoded)) {
      excerpt.take(piece);
      if (excerpt.isFull) break;
    }
    read += size;
    if (excerpt.isFull) break;
    if (read >= READ_LIMITS.bytes && read < file.size) {
      excerpt.stop();
      const limit = `[Only the first ${read} bytes of the file can be read.]`;
      return formatExcerpt(file, firstLine, excerpt, limit, pages);
    }
  }
  if (!excerpt.isFull) for (const piece of splitter.end()) excerpt.take(piece);
  return formatExcerpt(file, firstLine, excerpt, '', pages);
}

async function excerptOfDocument(file: AgentFile, text: string, input: ReadInput, signal: AbortSignal) {
  const pages = new DocumentPages(text);
  const byPages = asksForPages(input);
  if (byPages && pages.count === 0) return hasNoPages(shownPath(file.path));
  const range = byPages ? linesOfPages(pages, input) : input;
  if (range !== null) return await toExcerpt(file, inOnePiece(text), range, signal, { pages, byPages });
  const only = `${aboutFile(file)} has only ${pages.count === 1 ? '1 page' : `${pages.count} pages`}`;
  // If the text was cut, its last line names the number of all pages.
  const cut = /\n(\[Cut here: [^\n]*\])\n$/.exec(text.slice(-LAST_LINE_CHARACTERS))?.[1];
  return cut === undefined ? `${only}.` : `${only} that can be read. ${cut}`;
}

async function* inOnePiece(text: string): AsyncGenerator<TextPiece, void> {
  yield { text, size: 0 };
}

const LAST_LINE_CHARACTERS = 1000;

/** The requested pages' lines, or null if there is no such page. */
function linesOfPages(pages: DocumentPages, { first_page: firstPage = 1, pages: count }: ReadInput) {
  const first = pages.toLine(firstPage);
  if (first === null) return null;
  const end = count === undefined ? null : pages.toLine(firstPage + count);
  const lines = Math.min(end === null ? Number.POSITIVE_INFINITY : end - first, READ_LIMITS.mostLines);
  return { first_line: first, lines, first_character: 1 };
}

const aboutFile = (file: AgentFile) => `${shownPath(file.path)} (${file.contentType}, ${bytes(file.size)})`;

interface ShownPages {
  readonly pages: DocumentPages;
  /** True if the model asked for pages. */
  readonly byPages: boolean;
}

function formatExcerpt(
  file: AgentFile,
  firstLine: number,
  { lines, cut, lastLine, isFull }: Excerpt,
  limit: string,
  pages: ShownPages | null,
): string {
  const about = aboutFile(file);
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
    isFull && limit === '' ? `[There is more: call again with ${nextCall(shownTo + 1, pages)}.]` : '',
    long === undefined
      ? ''
      : `[To read on in line ${long.line}, call again with first_line ${long.line}, lines 1 and first_character ${long.shownTo + 1}.]`,
  ];
  return [
    `${about}, ${listPages(firstLine, shownTo, pages)}${which}${isFull ? '' : ` of ${lastLine}`}:`,
    ...lines,
    ...notes.filter((note) => note !== ''),
  ].join('\n');
}

/** A part of a page can only be continued by lines. */
function nextCall(line: number, shown: ShownPages | null): string {
  const page = shown?.byPages === true ? shown.pages.of(line) : null;
  return page !== null && shown?.pages.toLine(page) === line ? `first_page ${page}` : `first_line ${line}`;
}

function listPages(firstLine: number, lastLine: number, shown: ShownPages | null): string {
  const first = shown?.pages.of(firstLine) ?? null;
  if (shown === null || first === null) return '';
  const last = shown.pages.of(lastLine);
  return `${first === last ? `page ${first}` : `pages ${first} to ${last}`} of ${shown.pages.count}, `;
}
