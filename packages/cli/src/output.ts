import { once } from 'node:events';
import { styleText } from 'node:util';

/** Ends the process if a pipe's reader is gone, as with `runwire runs | head`. */
export function endWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit();
  });
}

/** Prints a line of the result. */
export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Prints a line that is not part of the result, to standard error. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`);
}

export function printJson(value: unknown): void {
  print(jsonText(value, process.stdout, process.stdout.isTTY ? 2 : undefined));
}

/** One line of JSON. */
export const jsonLine = (value: unknown, stream: NodeJS.WriteStream = process.stdout): string =>
  jsonText(value, stream, undefined);

/**
 * JSON escapes most control characters itself. In a terminal the others are escaped too, which does not change the value;
 * programs get the same bytes as ever.
 */
function jsonText(value: unknown, { isTTY }: Pick<NodeJS.WriteStream, 'isTTY'>, indent: number | undefined): string {
  const text = JSON.stringify(value, null, indent);
  // The line feeds are those of the indentation: in a value they are escaped already.
  return isTTY ? text.replace(CONTROLS, (character) => (character === '\n' ? character : escaped(character))) : text;
}

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Grey, if standard error is a terminal with colours. */
export const dim = (text: string): string => styleText('dim', text, { stream: process.stderr });

const NEWLINE_AND_TAB = new Set(['\n', '\t']);

/** What a terminal would take for a command, and what changes the direction of the text. */
const CONTROLS = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Removes what could control the terminal: names and texts come from other people and from models. */
export const visible = (text: string): string =>
  text.replace(CONTROLS, (character) => (NEWLINE_AND_TAB.has(character) ? character : ''));

/** Prints a file's bytes. A terminal gets its text without what could control the terminal; a pipe gets the bytes. */
export async function printBytes(bytes: AsyncIterable<Uint8Array>): Promise<void> {
  const { stdout } = process;
  const decoder = new TextDecoder();
  for await (const chunk of bytes) {
    const isTaken = stdout.write(stdout.isTTY ? visible(decoder.decode(chunk, { stream: true })) : chunk);
    if (!isTaken) await once(stdout, 'drain');
  }
  if (stdout.isTTY) stdout.write(visible(decoder.decode()));
}

/** A text as one line, at most this long. */
export function shortened(text: string, width: number): string {
  const line = visible(text)
    .trimEnd()
    .replaceAll(/\s*[\n\t]\s*/g, ' ');
  return line.length <= width ? line : `${line.slice(0, Math.max(width - 1, 0))}…`;
}

/** Breaks a text at spaces into lines of this width. */
export const wrapped = (text: string, width: number): string[] =>
  Number.isFinite(width) ? (visible(text).match(new RegExp(`\\S.{0,${width - 1}}(?=\\s|$)|\\S+`, 'g')) ?? []) : [text];

/** The terminal's width; some report 0. A file or a pipe has no width. */
export const measureWidth = (stream: NodeJS.WriteStream): number =>
  stream.isTTY ? stream.columns || 80 : Number.POSITIVE_INFINITY;

type Value = string | number | boolean | null | undefined;

export interface Column<Item> {
  readonly title: string;
  readonly value: (item: Item) => Value;
  /** True if a narrow terminal may cut it. Ids are never cut: people paste them. */
  readonly canShrink?: boolean;
}

const cell = (value: Value): string =>
  value === null || value === undefined ? '-' : shortened(String(value), Number.POSITIVE_INFINITY);

/** Prints rows in aligned columns, numbers to the right. */
export function printTable<Item>(items: readonly Item[], columns: readonly Column<Item>[]): void {
  const values = items.map((item) => columns.map(({ value }) => value(item)));
  const rows = [columns.map(({ title }) => title.toUpperCase()), ...values.map((row) => row.map(cell))];
  const isNumber = columns.map(
    (_, index) => values.length > 0 && values.every((row) => typeof row[index] === 'number'),
  );
  const widths = columns.map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0)));
  let excess = widths.reduce((sum, width) => sum + width + 2, -2) - measureWidth(process.stdout);
  for (const [index, { canShrink }] of columns.entries()) {
    if (canShrink !== true || excess <= 0) continue;
    const width = widths[index] ?? 0;
    const kept = Math.max(width - excess, 8);
    excess -= width - kept;
    widths[index] = kept;
  }
  for (const row of rows) {
    const line = row.map((text, index) => {
      const width = widths[index] ?? 0;
      const shown = shortened(text, width);
      return isNumber[index] ? shown.padStart(width) : shown.padEnd(width);
    });
    print(line.join('  ').trimEnd());
  }
}

export type Fields = Readonly<Record<string, Value>>;

/** Prints one record's fields, one in each line. Fields without a value are left out. */
export function printFields(fields: Fields, printLine: (line: string) => void = print): void {
  const shown = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined && value !== '');
  const width = Math.max(...shown.map(([name]) => name.length));
  for (const [name, value] of shown) printLine(`${`${name}:`.padEnd(width + 1)} ${cell(value)}`);
}

export interface ListOptions {
  readonly json?: true;
  readonly limit: number;
}

/** Prints a list's first items as a table or as one JSON array. Resolves to these items. */
export async function printList<Item>(
  list: AsyncIterable<Item>,
  { json, limit }: ListOptions,
  columns: readonly Column<Item>[],
): Promise<readonly Item[]> {
  const items: Item[] = [];
  let hasMore = false;
  for await (const item of list) {
    hasMore = items.length === limit;
    if (hasMore) break;
    items.push(item);
  }
  if (json) printJson(items);
  else if (items.length === 0) note('The list is empty.');
  else printTable(items, columns);
  if (hasMore) note(`There are more than ${limit}; raise --limit to see them.`);
  return items;
}

/** `2026-11-17 10:12:03`, in UTC. */
export const time = (text: string | null | undefined): string | null =>
  text == null ? null : text.slice(0, 19).replace('T', ' ');

/** `0.0125 EUR` */
export const costText = (cost: { readonly amount: number; readonly currency: string } | null): string | null =>
  cost === null ? null : `${cost.amount} ${cost.currency}`;

const BYTES_PER_UNIT = 1024;

/** `3.1 MiB` */
export function bytes(count: number | null): string | null {
  if (count === null) return null;
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = Math.min(Math.floor(Math.log(Math.max(count, 1)) / Math.log(BYTES_PER_UNIT)), units.length - 1);
  return `${(count / BYTES_PER_UNIT ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`;
}
