import { Shortfall } from '@runwire/test-kit/shortfall.ts';
import type { Locator } from 'playwright-core';

/** The cell of a row in the column with this title, in view. A table that is too wide for the page scrolls sideways. */
export async function cellInView(table: Locator, rowText: string, title: string): Promise<Locator> {
  const row = table.getByRole('row').filter({ hasText: rowText });
  await row.waitFor();
  const titles = await table.getByRole('columnheader').allTextContents();
  if (!titles.includes(title)) throw new Shortfall(`column ${title}: expected, found ${titles.join(', ')}.`);
  const cell = row.getByRole('cell').nth(titles.indexOf(title));
  await cell.scrollIntoViewIfNeeded();
  return cell;
}

/** The exact time that a cell shows in a few words. */
export const timeIn = (cell: Locator): Promise<string | null> => cell.getByRole('time').getAttribute('datetime');

const number = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 2 });
/** A number as the console shows it. */
export const shown = (value: number): string => number.format(value);
