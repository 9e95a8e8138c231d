/* Reads what people type into the field of a list: `status:failed agent:"Claims Desk" refund`. */

/** A filter at the end of a text that is still being typed. */
export interface OpenFilter {
  readonly name: string;
  readonly typed: string;
  /** The text before it. */
  readonly rest: string;
}

export interface FinishedFilters {
  readonly filters: Readonly<Record<string, string>>;
  /** The text without them. */
  readonly rest: string;
}

const OPEN = /(^|\s)([a-z]+):(?:"([^"]*)|([^\s"]*))$/i;
const FINISHED = /(^|\s)([a-z]+):(?:"([^"]+)"|([^\s"]+))(?=\s)/gi;
const MAX_WORDS_LENGTH = 200;

/** Returns the filter that the text ends with. Null if it ends with a word. */
export function readOpenFilter(text: string, names: readonly string[]): OpenFilter | null {
  const found = OPEN.exec(text);
  const name = found?.[2]?.toLowerCase() ?? '';
  if (found === null || !names.includes(name)) return null;
  return { name, typed: found[3] ?? found[4] ?? '', rest: text.slice(0, found.index) };
}

/** Takes the filters out of a text that white space follows. The last one of a name counts. */
export function takeFilters(text: string, names: readonly string[]): FinishedFilters {
  const filters: Record<string, string> = {};
  const rest = text.replace(FINISHED, (whole, before: string, name: string, quoted?: string, plain?: string) => {
    if (!names.includes(name.toLowerCase())) return whole;
    filters[name.toLowerCase()] = quoted ?? plain ?? '';
    return before;
  });
  return { filters, rest: Object.keys(filters).length === 0 ? text : rest.replaceAll(/\s+/g, ' ').trim() };
}

/** The words that a search by text takes: without the open filter. Empty if the text has no letter and no digit. */
export function toWords(text: string, names: readonly string[]): string {
  const words = (readOpenFilter(text, names)?.rest ?? text).trim().slice(0, MAX_WORDS_LENGTH);
  return /[\p{L}\p{N}]/u.test(words) ? words : '';
}
