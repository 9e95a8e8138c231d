import { withoutControls } from './gathered-text.ts';
import { TextLines } from './text-lines.ts';

/** Lists deeper than this are indented no further. */
const MAX_INDENT = 8;
/** A table with a longer row contains no data: it arranges a page's layout, as in mails. */
const MAX_LINES_OF_DATA = 6;

interface List {
  readonly numbered: boolean;
  items: number;
}

interface Row {
  readonly cells: (readonly string[])[];
  inCell: boolean;
}

/** Converts the blocks, paragraphs, lists and tables of a page to lines of text. */
export class BlockText {
  readonly #page = new TextLines();
  readonly #lists: List[] = [];
  #row: Row | null = null;
  /** The page, or the open cell. */
  #to = this.#page;
  #keepsSpaces = 0;
  #units = 0;

  /** A lower bound for the length of the shown text in UTF-16 code units, without white space at the ends of pieces. */
  get units(): number {
    return this.#units;
  }

  text(text: string): void {
    const clean = withoutControls(text);
    this.#units += clean.trim().length;
    if (this.#keepsSpaces > 0) this.#to.addAsItStands(clean);
    else this.#to.add(clean);
  }

  keepSpaces(on: boolean): void {
    this.#keepsSpaces = Math.max(0, this.#keepsSpaces + (on ? 1 : -1));
  }

  newLine(): void {
    this.#endLine(true);
  }

  block(): void {
    this.#endLine(false);
  }

  paragraph(): void {
    this.block();
    // List items follow each other without an empty line.
    if (this.#lists.length === 0) this.#to.gap();
  }

  openList(numbered: boolean): void {
    this.paragraph();
    this.#lists.push({ numbered, items: 0 });
  }

  closeList(): void {
    this.block();
    this.#lists.pop();
    this.paragraph();
  }

  openItem(): void {
    this.block();
    const list = this.#lists.at(-1);
    if (list !== undefined) list.items += 1;
    const indent = '  '.repeat(Math.min(MAX_INDENT, Math.max(0, this.#lists.length - 1)));
    this.#to.prefix(`${indent}${list?.numbered ? `${list.items}. ` : '- '}`);
  }

  /** Opens a table. If it is inside a cell, the row's earlier text is shown first. */
  openTable(): void {
    this.closeRow();
    this.paragraph();
  }

  closeTable(): void {
    this.closeRow();
    this.paragraph();
  }

  openRow(): void {
    this.closeRow();
    this.block();
    this.#row = { cells: [], inCell: false };
    this.#to = new TextLines();
  }

  openCell(): void {
    if (this.#row === null) {
      this.block();
      return;
    }
    this.#endCell(this.#row);
    this.#row.inCell = true;
  }

  closeRow(): void {
    const row = this.#row;
    if (row === null) return;
    this.#endCell(row);
    this.#row = null;
    this.#to = this.#page;
    const { cells } = row;
    if (cells.length === 1 || cells.some((lines) => lines.length > MAX_LINES_OF_DATA)) {
      for (const lines of cells) this.#appendCell(lines);
    } else if (cells.some((lines) => lines.length > 0)) {
      this.#page.append([cells.map(asOneLine).join(' | ').trim()]);
    }
  }

  #appendCell(lines: readonly string[]): void {
    if (lines.length > 1) this.#page.gap();
    this.#page.append(lines);
    if (lines.length > 1) this.#page.gap();
  }

  #endCell(row: Row): void {
    const lines = this.#to.end();
    if (row.inCell || lines.length > 0) row.cells.push(lines);
    row.inCell = false;
    this.#to = new TextLines();
  }

  #endLine(evenIfEmpty: boolean): void {
    this.#to.endLine({ keepSpaces: this.#keepsSpaces > 0, evenIfEmpty });
  }

  end(): string {
    this.closeRow();
    return `${this.#page.end().join('\n')}\n`;
  }
}

const asOneLine = (lines: readonly string[]) =>
  lines
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(' ');
