import { textOfDate, textOfDuration } from './excel-dates.ts';
import { unescapeText, type Workbook } from './workbook.ts';
import { readXml } from './xml-events.ts';

const MAX_COLUMNS = 16_384;

interface Cell {
  readonly type: string;
  readonly style: number;
  readonly column: number;
  value: string;
  /** True if there is a result, even an empty one. */
  hasResult: boolean;
  inline: string;
  formula: string;
}

/** Passes each row that has content to `row`, as a line of CSV. */
export function readSheet(xml: Buffer, workbook: Workbook, row: (line: string) => void, stop: () => boolean): void {
  let cells: string[] = [];
  /** The column of the next cell that does not declare its own. */
  let next = 0;
  let cell: Cell | null = null;
  let into: 'value' | 'inline' | 'formula' | null = null;
  let inReading = false;
  readXml(
    xml,
    {
      open(name, attributes) {
        if (name === 'row') {
          cells = [];
          next = 0;
        } else if (name === 'c') cell = startCell(attributes, next);
        else if (name === 'rPh') inReading = true;
        else if (name === 'v') {
          into = 'value';
          if (cell !== null) cell.hasResult = true;
        } else if (name === 'f') into = 'formula';
        else into = name === 't' && !inReading ? 'inline' : null;
      },
      text(text) {
        if (cell !== null && into !== null) cell[into] += text;
      },
      close(name) {
        into = null;
        if (name === 'rPh') inReading = false;
        if (name === 'c' && cell !== null) {
          const text = textOfCell(cell, workbook);
          if (text !== '' && cell.column < MAX_COLUMNS) {
            while (cells.length < cell.column) cells.push('');
            cells[cell.column] = text;
          }
          next = cell.column + 1;
          cell = null;
        }
        if (name === 'row' && cells.length > 0) {
          if (!stop()) row(`${cells.map(csvField).join(',')}\n`);
          cells = [];
        }
      },
    },
    stop,
  );
}

function startCell({ r = '', t = 'n', s = '0' }: Readonly<Record<string, string>>, next: number): Cell {
  const letters = /^[A-Z]{1,3}/.exec(r)?.[0];
  const column = letters === undefined ? next : pickColumn(letters);
  return { type: t, style: Number(s), column, value: '', hasResult: false, inline: '', formula: '' };
}

/** `A` is 0, `AA` is 26. */
const pickColumn = (letters: string) =>
  [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;

function textOfCell({ type, style, value, hasResult, inline, formula }: Cell, workbook: Workbook): string {
  if (type === 's') return workbook.strings[Number(value)] ?? '';
  if (type === 'inlineStr') return unescapeText(inline);
  // A text may be empty. Any other empty result, as openpyxl writes it, means that there is none, so the formula is
  // shown.
  if (value === '' && type === 'str' && hasResult) return '';
  if (value === '') return formula === '' ? '' : `=${formula}`;
  if (type === 'b') return value === '1' ? 'TRUE' : 'FALSE';
  if (type !== 'n') return unescapeText(value);
  const number = Number(value);
  if (Number.isNaN(number)) return value;
  // Rounded to the 15 digits that spreadsheets show.
  return textOfTime(number, style, workbook) ?? String(Number(number.toPrecision(15)));
}

function textOfTime(number: number, style: number, { timeStyles, from1904 }: Workbook): string | null {
  const format = timeStyles.get(style);
  if (format === undefined) return null;
  return format === 'date' ? textOfDate(number, from1904) : textOfDuration(number);
}

const csvField = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
