import { shortened } from './output.ts';

export interface Bar {
  readonly label: string;
  readonly value: number;
}

const MAX_LABEL = 24;
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** Horizontal bars, as wide as the terminal. */
export function plot(bars: readonly Bar[], width: number): string[] {
  const labels = bars.map(({ label }) => shortened(label, MAX_LABEL));
  const numbers = bars.map(({ value }) => value.toLocaleString('en-US'));
  const labelWidth = Math.max(...labels.map(({ length }) => length));
  const numberWidth = Math.max(...numbers.map(({ length }) => length));
  const cells = Math.max(width - labelWidth - numberWidth - 4, 8);
  const largest = Math.max(...bars.map(({ value }) => value), 1);
  return bars.map(({ value }, index) => {
    const eighths = Math.round((value / largest) * cells * 8);
    const bar = '█'.repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8];
    return `${labels[index]?.padEnd(labelWidth)}  ${numbers[index]?.padStart(numberWidth)}  ${bar}`.trimEnd();
  });
}
