import type { Statement } from '../statement.ts';

/** One statement of several that are sent as one. */
export interface Part {
  readonly statement: Statement<unknown, unknown>;
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
  /** True if its text returns `gathered_call` for each changed row. */
  readonly tellsCalls: boolean;
}

const WRITTEN_TABLE = /^(insert into|update|delete from) "?(\w+)/;

/** Returns the table that a statement writes to, or null if it writes nothing. */
export function writtenTable(text: string): string | null {
  return WRITTEN_TABLE.exec(text)?.[2] ?? null;
}

/**
 * Makes one statement of statements that write to different tables:
 *
 *   with s1 as (insert … returning …), s2 as (…), mark as (…) select (select count(*) from s1) as s1, …
 *
 * The parts run, and lock their rows, in the order of the selected columns. All parts see the tables as they were before:
 * a part that reads what an earlier part wrote reads the rows that this part returned (`Gathering.reads`).
 */
export function togetherText(parts: readonly Part[], mark: string | null): string {
  let parameters = 0;
  const shift = (text: string, count: number) => {
    const shifted = text.replace(/\$(\d+)/g, (_, n) => `$${Number(n) + parameters}`);
    parameters += count;
    return shifted;
  };
  const texts = parts.map((part, index) => {
    const text = shift(readingParts(part, parts), part.values.length);
    const readers = parts.map(({ statement }) => statement.gathers?.reads);
    const isRead = readers.some((reads) => reads?.writtenBy.includes(part.statement as Statement<never, unknown>));
    const returned = isRead ? `"${writtenTable(part.text)}".*` : '1';
    if (!part.tellsCalls) return `s${index} as (${text} returning ${returned})`;
    return `s${index} as (${text}${isRead ? `, ${returned}` : ''})`;
  });
  const columns = parts.map(({ tellsCalls }, index) =>
    tellsCalls
      ? `array(select gathered_call from s${index}) as s${index}`
      : `(select count(*) from s${index}) as s${index}`,
  );
  if (mark !== null) {
    texts.push(`mark as (${shift(mark, 0)})`);
    columns.push('(select xid from mark) as xid');
  }
  return `with ${texts.join(', ')} select ${columns.join(', ')}`;
}

/** A part's text, which reads the rows of other parts instead of the table that they write to. */
function readingParts({ statement, text }: Part, parts: readonly Part[]): string {
  const { reads } = statement.gathers ?? {};
  if (reads === undefined) return text;
  const sources = parts.flatMap((part, index) =>
    reads.writtenBy.includes(part.statement as Statement<never, unknown>) ? [`select * from s${index}`] : [],
  );
  if (sources.length === 0) return text;
  const from = `from "${reads.table}"`;
  if (!text.includes(from)) throw new Error(`${statement.name} does not read ${reads.table}.`);
  const columns = reads.columns.join(', ');
  const rows = sources.map((source) => source.replace('*', columns)).join(' union all ');
  return text.replace(from, `from (${rows}) as "${reads.table}"`);
}
