import { bytes, shortened, visible } from './output.ts';

const BAR_CELLS = 24;
const NAME_CELLS = 28;

interface BarOptions {
  readonly stream?: NodeJS.WriteStream;
  /** Writes the whole for people. By default it is a number of bytes. */
  readonly amount?: (total: number) => string | null;
}

/** A line of the terminal that shows how much of a work is done. It shows nothing if standard error is no terminal. */
export class ProgressBar implements Disposable {
  readonly #name: string;
  readonly #stream: NodeJS.WriteStream;
  readonly #amount: (total: number) => string | null;
  #shown = '';

  constructor(name: string, { stream = process.stderr, amount = bytes }: BarOptions = {}) {
    this.#name = visible(name);
    this.#stream = stream;
    this.#amount = amount;
  }

  show(done: number, total: number): void {
    if (!this.#stream.isTTY) return;
    const line = barLine(this.#name, done, total, this.#amount);
    if (line === this.#shown) return;
    this.#shown = line;
    this.#stream.write(`\r\u001b[K${line}`);
  }

  [Symbol.dispose](): void {
    if (this.#shown !== '') this.#stream.write('\n');
  }
}

export function barLine(
  name: string,
  done: number,
  total: number,
  amount: (total: number) => string | null = bytes,
): string {
  const share = total === 0 ? 1 : done / total;
  const full = Math.round(share * BAR_CELLS);
  const bar = '█'.repeat(full) + '░'.repeat(BAR_CELLS - full);
  const percent = `${Math.floor(share * 100)} %`.padStart(5);
  return `${shortened(name, NAME_CELLS).padEnd(NAME_CELLS)} ${bar} ${percent}  ${amount(total)}`;
}
