/** Lists deeper than this are indented no further. */
const MAX_INDENT = 8;

interface List {
  readonly numbered: boolean;
  items: number;
}

/** Lines of text made of what a page is made of: blocks, paragraphs, lists and tables. */
export class BlockText {
  readonly #lines: string[] = [];
  readonly #lists: List[] = [];
  #row: string[] | null = null;
  #inCell = false;
  #line = '';
  #prefix = '';
  #keepsSpaces = 0;

  text(text: string): void {
    if (this.#keepsSpaces > 0 && this.#row === null) {
      const lines = text.split(/\r\n?|\n/);
      for (const [index, line] of lines.entries()) {
        if (index > 0) this.#endLine(true);
        this.#line += line;
      }
      return;
    }
    const collapsed = text.replaceAll(/[ \t\r\n\f]+/g, ' ');
    this.#line += collapsed.startsWith(' ') && /(?:^|\s)$/.test(this.#line) ? collapsed.slice(1) : collapsed;
  }

  keepSpaces(on: boolean): void {
    this.#keepsSpaces = Math.max(0, this.#keepsSpaces + (on ? 1 : -1));
  }

  newLine(): void {
    if (this.#row === null) this.#endLine(true);
    else this.text(' ');
  }

  block(): void {
    if (this.#row === null) this.#endLine(false);
    else this.text(' ');
  }

  paragraph(): void {
    this.block();
    // Within a list, items follow each other without a gap.
    if (this.#row === null && this.#lists.length === 0) this.#gap();
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
    const sign = list?.numbered ? `${list.items}. ` : '- ';
    if (this.#row === null) this.#prefix = `${indent}${sign}`;
    else this.text(` ${sign}`);
  }

  /** A table inside a cell: what stood in the row before it is shown first. */
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
    this.#endLine(false);
    this.#row = [];
  }

  openCell(): void {
    if (this.#row === null) this.block();
    else this.#endCell();
    this.#inCell = true;
  }

  closeRow(): void {
    if (this.#row === null) return;
    this.#endCell();
    const cells = this.#row;
    this.#row = null;
    this.#line = cells.some((cell) => cell !== '') ? cells.join(' | ') : '';
    this.#endLine(false);
  }

  #endCell(): void {
    const text = this.#line.trim();
    if (this.#inCell || text !== '') this.#row?.push(text);
    this.#inCell = false;
    this.#line = '';
  }

  #endLine(evenIfEmpty: boolean): void {
    const line = this.#keepsSpaces > 0 ? this.#line.trimEnd() : this.#line.trim();
    this.#line = '';
    if (line !== '') {
      this.#lines.push(`${this.#prefix}${line}`);
      this.#prefix = '';
    } else if (evenIfEmpty) this.#gap();
  }

  #gap(): void {
    if (this.#lines.length > 0 && this.#lines.at(-1) !== '') this.#lines.push('');
  }

  end(): string {
    this.closeRow();
    this.#endLine(false);
    while (this.#lines.at(-1) === '') this.#lines.pop();
    return `${this.#lines.join('\n')}\n`;
  }
}
