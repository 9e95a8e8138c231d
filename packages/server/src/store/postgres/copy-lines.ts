import { type Client, Query } from 'pg';
import { freeLines, type Lines } from '../transfer/ports.ts';
import { translate } from './errors.ts';

/** The size of the pieces. A larger row is a piece of its own. */
const PIECE_BYTES = 512 * 1024;
/** How many pieces wait for the reader before the connection is paused. */
const MAX_WAITING = 4;

const BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const LF = 0x0a;
/** The brackets. The row has the line break. */
const ADDED_BYTES = 2;

/** JSON allows them only escaped. */
const CONTROLS = /[\u0000-\u001f]/;
const ALL_CONTROLS = new RegExp(CONTROLS, 'g');

/**
 * Reads a table as lines of JSON. With these settings PostgreSQL's CSV is the inside of a JSON array: numbers as they are, texts in
 * quotes, quotes and backslashes escaped. Only control characters are not, and rows with one are rare: texts of users are
 * stored as JSON. The driver decodes no value.
 */
export async function* copyLines(client: Client, table: string, columns: readonly string[]): AsyncGenerator<Lines> {
  const names = columns.map((name) => client.escapeIdentifier(name));
  const texts = await textColumns(client, table);
  const quotedNames = names.filter((_, index) => texts.has(columns[index] ?? ''));
  const quoting = quotedNames.length === 0 ? '' : `, force_quote (${quotedNames.join(', ')})`;
  const format = `format csv, null 'null', escape e'\\x5c'${quoting}`;
  const rows = `select ${names.join(', ')} from ${client.escapeIdentifier(table)}`;
  const { stream } = (client as unknown as { readonly connection: { readonly stream: NodeJS.ReadStream } }).connection;
  const pieces = new Pieces(stream);
  const copy = new CopyQuery(`copy (${rows}) to stdout with (${format})`, pieces);
  client.query(copy);
  try {
    for (;;) {
      const lines = await pieces.next();
      if (lines === null) return;
      yield lines;
      freeLines(lines);
    }
  } catch (error) {
    throw translate(error);
  } finally {
    // If the reader stops early, the rest is discarded, and the connection can be used again.
    await pieces.discard();
  }
}

async function textColumns(client: Client, table: string): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ column_name: string }>(
    `select column_name from information_schema.columns where table_schema = current_schema() and table_name = $1
       and data_type not in ('integer', 'bigint')`,
    [table],
  );
  return new Set(rows.map((row) => row.column_name));
}

/** Escapes control characters, except the line break at the end of the row. They occur only in texts. */
function escapeControls(row: Buffer): Buffer {
  const text = row.toString('latin1', 0, row.length - 1);
  if (!CONTROLS.test(text)) return row;
  const escaped = text.replace(ALL_CONTROLS, (character) => JSON.stringify(character).slice(1, -1));
  return Buffer.from(`${escaped}\n`, 'latin1');
}

class CopyQuery extends Query {
  readonly #pieces: Pieces;

  constructor(text: string, pieces: Pieces) {
    super(text, (error?: Error | null) => pieces.end(error ?? null));
    this.#pieces = pieces;
  }

  /** The driver calls it once per row. Its buffer is used again after the call. */
  handleCopyData({ chunk }: { readonly chunk: Buffer }): void {
    this.#pieces.add(chunk);
  }
}

/** The rows that have arrived, joined to pieces. Reading from the connection pauses while too many of them wait. */
class Pieces {
  readonly #stream: NodeJS.ReadStream;
  readonly #waiting: Lines[] = [];
  #piece: Buffer | null = null;
  #bytes = 0;
  #lines = 0;
  #isDiscarded = false;
  #end: { readonly error: Error | null } | null = null;
  #changed = Promise.withResolvers<void>();

  constructor(stream: NodeJS.ReadStream) {
    this.#stream = stream;
  }

  add(values: Buffer): void {
    if (this.#isDiscarded) return;
    const row = escapeControls(values);
    const room = row.length + ADDED_BYTES;
    if (this.#piece !== null && this.#bytes + room > this.#piece.length) this.#finishPiece();
    this.#piece ??= Buffer.allocUnsafeSlow(Math.max(PIECE_BYTES, room));
    this.#piece[this.#bytes] = BRACKET;
    this.#bytes += 1 + row.copy(this.#piece, this.#bytes + 1);
    this.#piece[this.#bytes - 1] = CLOSING_BRACKET;
    this.#piece[this.#bytes] = LF;
    this.#bytes += 1;
    this.#lines += 1;
  }

  end(error: Error | null): void {
    if (error === null) this.#finishPiece();
    this.#end ??= { error };
    this.#changed.resolve();
  }

  #finishPiece(): void {
    if (this.#piece === null) return;
    this.#waiting.push({ bytes: this.#piece.subarray(0, this.#bytes - 1), count: this.#lines });
    this.#piece = null;
    this.#bytes = 0;
    this.#lines = 0;
    if (this.#waiting.length === MAX_WAITING) this.#stream.pause();
    this.#changed.resolve();
  }

  /** Resolves to null after the last piece. */
  async next(): Promise<Lines | null> {
    for (;;) {
      const lines = this.#waiting.shift();
      if (lines !== undefined) {
        if (this.#waiting.length === 0) this.#stream.resume();
        return lines;
      }
      if (this.#end?.error) throw this.#end.error;
      if (this.#end !== null) return null;
      this.#changed = Promise.withResolvers();
      await this.#changed.promise;
    }
  }

  async discard(): Promise<void> {
    this.#isDiscarded = true;
    this.#waiting.length = 0;
    this.#stream.resume();
    while (this.#end === null) {
      this.#changed = Promise.withResolvers();
      await this.#changed.promise;
    }
  }
}
