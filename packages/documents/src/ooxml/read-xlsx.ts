import { type Conversion, withNotes } from '../conversion.ts';
import { GatheredText } from '../gathered-text.ts';
import { Unreadable } from '../unreadable.ts';
import { XLSX_TYPE } from './package-kind.ts';
import { readSheet } from './read-sheet.ts';
import { readWorkbook, type Sheet } from './workbook.ts';
import type { ZipArchive } from './zip-archive.ts';

/** Reads an XLSX's cells, sheet by sheet. Formulas are shown by their stored results. */
export function readXlsx(zip: ZipArchive, { limits, wholePart }: Conversion): string {
  const workbook = readWorkbook(zip);
  const gathered = new GatheredText(limits.characters);
  const of = workbook.sheets.length;
  let rows = 0;
  let number = 0;
  for (const sheet of workbook.sheets) {
    if (gathered.isFull) break;
    number += 1;
    const parts = [gathered.add(`${number === 1 ? '' : '\n'}${heading(sheet)}\n`)];
    const xml = sheet.part === null ? null : zip.read(sheet.part);
    const add = (line: string) => {
      rows += 1;
      parts.push(gathered.add(line));
    };
    if (xml !== null) readSheet(xml, workbook, add, () => gathered.isFull);
    if (!gathered.isFull) wholePart({ text: parts.join(''), mediaType: XLSX_TYPE, unit: 'sheet', number, of });
  }
  if (rows === 0) throw new Unreadable('is a spreadsheet with empty cells only');
  const note = `[Cut here: the first ${limits.characters} characters are shown, which end in sheet ${number} of ${of}.]`;
  return withNotes(gathered.toString(), [gathered.isFull ? note : null]);
}

function heading({ name, hidden, part }: Sheet): string {
  const remarks = [hidden ? 'hidden' : '', part === null ? 'not a table' : ''].filter((remark) => remark !== '');
  // Keeps the name in one line.
  return `[Sheet: ${name.replaceAll(/\s+/g, ' ')}${remarks.length === 0 ? '' : ` (${remarks.join(', ')})`}]`;
}
