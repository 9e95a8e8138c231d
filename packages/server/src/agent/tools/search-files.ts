import { type AgentPath, shownPath } from '../../domain/file/agency-path.ts';
import type { AgentFile, AgentFiles, DocumentText, OpenedAgentFile } from '../files-port.ts';
import { DocumentPages } from './document-pages.ts';
import { fileTool } from './file-tool.ts';
import { checkModelFolderPath } from './model-path.ts';
import { cutAt, type LinePiece, LineSplitter, NotText, toText } from './text-lines.ts';

interface SearchInput {
  readonly text: string;
  readonly folder?: string;
  readonly ignore_case?: boolean;
}

export interface SearchLimits {
  readonly files: number;
  readonly bytes: number;
  readonly matches: number;
  readonly ms: number;
}

export const SEARCH_LIMITS: SearchLimits = { files: 2000, bytes: 128 * 1024 * 1024, matches: 100, ms: 10_000 };

const MOST_CHARACTERS = 200;
const PIECE_CHARACTERS = 64 * 1024;
/** The number of characters before and after a match that are shown. */
const BEFORE = 80;
const AFTER = 160;

export const searchFiles = searchFilesWithin(SEARCH_LIMITS);

export function searchFilesWithin(limits: SearchLimits) {
  return fileTool<SearchInput>({
    name: 'search_files',
    description:
      'Finds a text in the text files and documents (PDF, DOCX, XLSX, HTML, CSV) below a folder. Returns the matching lines with path, line number and page.',
    properties: {
      text: { type: 'string', minLength: 1, maxLength: MOST_CHARACTERS, description: 'Plain text within one line.' },
      folder: {
        type: 'string',
        description: 'Full path of the folder, without a slash at its end; /app/mnt if not given.',
      },
      ignore_case: { type: 'boolean', description: 'True if upper and lower case are the same.' },
    },
    required: ['text'],
    async execute(files, { text, folder, ignore_case: ignoreCase = false }, signal) {
      const checked = checkModelFolderPath(folder);
      if ('problem' in checked) return checked.problem;
      if (/[\r\n]/.test(text)) return '`text` must be within one line.';
      if ((await files.list(checked.below, null, 1)) === null) return `There is no folder ${shownPath(checked.below)}.`;
      const search = new Search(files, new RegExp(RegExp.escape(text), ignoreCase ? 'iu' : 'u'), limits, signal);
      await search.below(checked.below);
      return search.report(shownPath(checked.below));
    },
  });
}

class Search {
  readonly #files: AgentFiles;
  readonly #pattern: RegExp;
  readonly #limits: SearchLimits;
  readonly #signal: AbortSignal;
  readonly #until: number;
  /** By path, because stores return files in different orders. */
  readonly #found = new Map<string, string[]>();
  #looked = 0;
  #notText = 0;
  #unreadable = 0;
  #bytes = 0;
  #matches = 0;
  /** The reason why the search stopped before the end. */
  #stopped: string | null = null;
  /** The document that was being converted when the time was over. */
  #unfinished: string | null = null;

  constructor(files: AgentFiles, pattern: RegExp, limits: SearchLimits, signal: AbortSignal) {
    this.#files = files;
    this.#pattern = pattern;
    this.#limits = limits;
    this.#signal = signal;
    this.#until = performance.now() + limits.ms;
  }

  async below(folder: AgentPath): Promise<void> {
    for await (const file of this.#files.walk(folder)) {
      const seen = this.#looked + this.#notText + this.#unreadable;
      if (seen >= this.#limits.files) this.#stopped = `${this.#limits.files} files`;
      if (this.#isOver()) return;
      await this.#lookInto(file);
    }
  }

  #isOver(): boolean {
    this.#signal.throwIfAborted();
    if (performance.now() >= this.#until) this.#stopped ??= `${this.#limits.ms / 1000} seconds`;
    if (this.#bytes >= this.#limits.bytes) this.#stopped ??= `${this.#limits.bytes} bytes`;
    return this.#stopped !== null;
  }

  async #lookInto({ path }: Pick<AgentFile, 'path'>): Promise<void> {
    await using opened = await this.#files.open(path);
    // The file was deleted since the listing.
    if (opened === null) return;
    const { is } = opened.kind;
    if (is === 'image' || is === 'other') this.#notText += 1;
    else if (is === 'document' || !(await this.#lookIntoText(opened))) await this.#lookIntoDocument(opened);
  }

  /** Resolves to false if the file began like text but is none. */
  async #lookIntoText({ file, bytes }: OpenedAgentFile): Promise<boolean> {
    const lines: string[] = [];
    const splitter = new LineSplitter(PIECE_CHARACTERS);
    const matcher = new LineMatcher(this.#pattern, shownPath(file.path));
    try {
      for await (const { text, size } of toText(bytes)) {
        this.#bytes += size;
        this.#match(matcher, splitter.push(text), lines);
        if (this.#isOver()) break;
      }
    } catch (error) {
      if (!(error instanceof NotText)) throw error;
      this.#matches -= lines.length;
      return false;
    }
    if (this.#stopped === null) this.#match(matcher, splitter.end(), lines);
    this.#looked += 1;
    if (lines.length > 0) this.#found.set(file.path, lines);
    return true;
  }

  async #lookIntoDocument(opened: OpenedAgentFile): Promise<void> {
    if (this.#isOver()) return;
    const converted = await this.#convert(opened);
    if (converted === null) return;
    this.#bytes += converted.readBytes;
    if ('problem' in converted) {
      this.#unreadable += 1;
      return;
    }
    const { text } = converted;
    const { path } = opened.file;
    const lines: string[] = [];
    const splitter = new LineSplitter(PIECE_CHARACTERS);
    const matcher = new LineMatcher(this.#pattern, shownPath(path), new DocumentPages(text));
    this.#match(matcher, splitter.push(text), lines);
    if (this.#stopped === null) this.#match(matcher, splitter.end(), lines);
    this.#looked += 1;
    if (lines.length > 0) this.#found.set(path, lines);
  }

  /** Resolves to null if the time is over. */
  async #convert(opened: OpenedAgentFile): Promise<DocumentText | null> {
    const timeout = AbortSignal.timeout(Math.max(0, Math.ceil(this.#until - performance.now())));
    try {
      return await opened.convert(AbortSignal.any([this.#signal, timeout]));
    } catch (error) {
      if (!timeout.aborted || this.#signal.aborted) throw error;
      this.#stopped = `${this.#limits.ms / 1000} seconds`;
      this.#unfinished = shownPath(opened.file.path);
      return null;
    }
  }

  #match(matcher: LineMatcher, pieces: Iterable<LinePiece>, lines: string[]): void {
    for (const piece of pieces) {
      const line = matcher.look(piece);
      if (line === null) continue;
      if (this.#matches >= this.#limits.matches) {
        this.#stopped = `${this.#limits.matches} matches`;
        return;
      }
      this.#matches += 1;
      lines.push(line);
    }
  }

  report(folder: string): string {
    const paths = [...this.#found.keys()].sort();
    const count = (number: number, of: string) => `${number} ${of}${number === 1 ? '' : 's'}`;
    const skipped = [
      this.#notText === 0 ? '' : `; ${count(this.#notText, 'file')} skipped (not text)`,
      this.#unreadable === 0
        ? ''
        : `; ${count(this.#unreadable, 'document')} could not be read (read_file reports the reason)`,
    ].join('');
    const about = `${count(this.#matches, 'matching line')}, ${count(this.#looked, 'file')} below ${folder} searched${skipped}.`;
    const lines = paths.flatMap((path) => this.#found.get(path) ?? []);
    return [about, ...lines, ...this.#end()].join('\n');
  }

  #end(): readonly string[] {
    if (this.#stopped === null) return [];
    if (this.#unfinished === null) {
      return [`[Stopped after ${this.#stopped}: there may be more. Name a folder further down.]`];
    }
    return [
      `[Stopped after ${this.#stopped} while ${this.#unfinished} was converted: there may be more. Read that file with read_file first, or name a folder further down.]`,
    ];
  }
}

/** Reports each matching line once, whatever its length. */
class LineMatcher {
  readonly #pattern: RegExp;
  readonly #path: string;
  readonly #pages: DocumentPages | null;
  #reportedLine = 0;
  /** The end of the previous piece of the same line, in which a match may begin. */
  #tail = '';

  constructor(pattern: RegExp, path: string, pages: DocumentPages | null = null) {
    this.#pattern = pattern;
    this.#path = path;
    this.#pages = pages;
  }

  look({ line, at, text, endsLine }: LinePiece): string | null {
    const searched = this.#tail + text;
    const begins = at - this.#tail.length;
    this.#tail = endsLine ? '' : searched.slice(-2 * MOST_CHARACTERS);
    if (this.#reportedLine === line) return null;
    const index = searched.search(this.#pattern);
    if (index === -1) return null;
    this.#reportedLine = line;
    const from = Math.max(0, index - BEFORE);
    const shown = cutAt(searched.slice(from), BEFORE + AFTER);
    const isWhole = begins + from === 0;
    const page = this.#pages?.of(line) ?? null;
    const within = [page === null ? '' : `page ${page}`, isWhole ? '' : `character ${begins + index + 1}`];
    const known = within.filter((part) => part !== '').join(', ');
    const where = known === '' ? `${line}` : `${line} (${known})`;
    const end = from + shown.length < searched.length || !endsLine ? '…' : '';
    return `${this.#path}:${where}: ${isWhole ? '' : '…'}${shown.toWellFormed()}${end}`;
  }
}
