import { bytes, shortened, visible } from './output.ts';

const BAR_CELLS = 24;
const NAME_CELLS = 28;

/** A line of the terminal that shows how much of a file is sent. It shows nothing if standard error is no terminal. */
export class ProgressBar implements Disposable {
  readonly #name: string;
  readonly #stream: NodeJS.WriteStream;
  #shown = '';

  constructor(name: string, stream: NodeJS.WriteStream = process.stderr) {
    this.#name = visible(name);
    this.#stream = stream;
  }

  show(loadedBytes: number, totalBytes: number): void {
    if (!this.#stream.isTTY) return;
    const line = barLine(this.#name, loadedBytes, totalBytes);
    if (line === this.#shown) return;
    this.#shown = line;
    this.#stream.write(`\r\u001b[K${line}`);
  }

  [Symbol.dispose](): void {
    if (this.#shown !== '') this.#stream.write('\n');
  }
}

export function barLine(name: string, loadedBytes: number, totalBytes: number): string {
  const share = totalBytes === 0 ? 1 : loadedBytes / totalBytes;
  const full = Math.round(share * BAR_CELLS);
  const bar = '█'.repeat(full) + '░'.repeat(BAR_CELLS - full);
  const percent = `${Math.floor(share * 100)} %`.padStart(5);
  return `${shortened(name, NAME_CELLS).padEnd(NAME_CELLS)} ${bar} ${percent}  ${bytes(totalBytes)}`;
}
