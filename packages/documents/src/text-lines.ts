/** Collects lines piece by piece. The time grows linearly with the text, however long a line becomes. */
export class TextLines {
  readonly #lines: string[] = [];
  #pieces: string[] = [];
  #endsWithSpace = true;
  #prefix = '';

  get lines(): readonly string[] {
    return this.#lines;
  }

  /** Collapses white space to one space, and to none at the start of a line. */
  add(text: string): void {
    const collapsed = text.replaceAll(/[ \t\r\n\f]+/g, ' ');
    this.#push(this.#endsWithSpace && collapsed.startsWith(' ') ? collapsed.slice(1) : collapsed);
  }

  addAsItStands(text: string): void {
    for (const [index, line] of text.split('\n').entries()) {
      if (index > 0) this.endLine({ keepSpaces: true, evenIfEmpty: true });
      this.#push(line);
    }
  }

  #push(piece: string): void {
    if (piece === '') return;
    this.#pieces.push(piece);
    this.#endsWithSpace = /\s/.test(piece.at(-1) ?? '');
  }

  /** Set before the next line that has text. */
  prefix(prefix: string): void {
    this.#prefix = prefix;
  }

  endLine({ keepSpaces = false, evenIfEmpty = false } = {}): void {
    const gathered = this.#pieces.join('');
    this.#pieces = [];
    this.#endsWithSpace = true;
    const line = keepSpaces ? gathered.trimEnd() : gathered.trim();
    if (line !== '') {
      this.#lines.push(`${this.#prefix}${line}`);
      this.#prefix = '';
    } else if (evenIfEmpty) this.gap();
  }

  /** Adds complete lines. */
  append(lines: readonly string[]): void {
    for (const line of lines) {
      this.#lines.push(`${this.#prefix}${line}`);
      this.#prefix = '';
    }
  }

  /** Adds one empty line, but none at the start. */
  gap(): void {
    if (this.#lines.length > 0 && this.#lines.at(-1) !== '') this.#lines.push('');
  }

  end(): readonly string[] {
    this.endLine();
    while (this.#lines.at(-1) === '') this.#lines.pop();
    return this.#lines;
  }
}
