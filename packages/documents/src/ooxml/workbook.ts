import { Unreadable } from '../unreadable.ts';
import { type TimeFormat, timeFormat } from './excel-dates.ts';
import { getRelationships, partOfType } from './relationships.ts';
import { readXml } from './xml-events.ts';
import type { ZipArchive } from './zip-archive.ts';

export interface Sheet {
  readonly name: string;
  readonly hidden: boolean;
  /** Null if it is no table, such as a chart. */
  readonly part: string | null;
}

/** The parts of a workbook that cells refer to. */
export interface Workbook {
  readonly sheets: readonly Sheet[];
  readonly strings: readonly string[];
  /** By the number of the cell's style. */
  readonly timeStyles: ReadonlyMap<number, TimeFormat>;
  readonly from1904: boolean;
}

export function readWorkbook(zip: ZipArchive): Workbook {
  const part = partOfType(getRelationships(zip, ''), 'officeDocument') ?? 'xl/workbook.xml';
  const xml = zip.read(part);
  if (xml === null) throw new Unreadable('is damaged: it contains no workbook');
  const relationships = getRelationships(zip, part);
  const tables = new Map(relationships.filter(({ type }) => type === 'worksheet').map(({ id, part }) => [id, part]));
  const sheets: Sheet[] = [];
  let from1904 = false;
  readXml(xml, {
    open(name, attributes) {
      if (name === 'workbookPr') from1904 = /^(?:1|true)$/.test(attributes.date1904 ?? '');
      if (name !== 'sheet') return;
      const id = Object.entries(attributes).find(([key]) => key.endsWith(':id'))?.[1] ?? '';
      const hidden = /hidden$/i.test(attributes.state ?? '');
      sheets.push({ name: attributes.name ?? '', hidden, part: tables.get(id) ?? null });
    },
  });
  const strings = partOfType(relationships, 'sharedStrings');
  const styles = partOfType(relationships, 'styles');
  return {
    sheets,
    from1904,
    strings: strings === null ? [] : sharedStrings(zip.read(strings)),
    timeStyles: styles === null ? new Map() : timeStyles(zip.read(styles)),
  };
}

function sharedStrings(xml: Buffer | null): string[] {
  const strings: string[] = [];
  if (xml === null) return strings;
  let parts: string[] = [];
  let inText = false;
  let inReading = false;
  readXml(xml, {
    open(name) {
      if (name === 'si') parts = [];
      // The pronunciation of a text is stored beside it.
      else if (name === 'rPh') inReading = true;
      else inText = name === 't' && !inReading;
    },
    text(text) {
      if (inText) parts.push(text);
    },
    close(name) {
      inText = false;
      if (name === 'rPh') inReading = false;
      if (name === 'si') strings.push(unescapeText(parts.join('')));
    },
  });
  return strings;
}

/** `_x000D_` represents a character that XML cannot contain. */
export const unescapeText = (text: string): string =>
  text.replaceAll(/_x([0-9A-Fa-f]{4})_/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

function timeStyles(xml: Buffer | null): Map<number, TimeFormat> {
  /** By number, each parsed once: many styles can share a long format. */
  const own = new Map<number, TimeFormat | null>();
  const found = new Map<number, TimeFormat>();
  let inCells = false;
  let style = 0;
  if (xml === null) return found;
  readXml(xml, {
    open(name, { numFmtId = '0', formatCode }) {
      const id = Number(numFmtId);
      if (name === 'numFmt' && formatCode !== undefined) own.set(id, timeFormat(id, formatCode));
      if (name === 'cellXfs') inCells = true;
      if (name !== 'xf' || !inCells) return;
      const format = own.has(id) ? own.get(id) : timeFormat(id, undefined);
      if (format) found.set(style, format);
      style += 1;
    },
    close(name) {
      if (name === 'cellXfs') inCells = false;
    },
  });
  return found;
}
