import type { Page } from 'playwright-core';

/** Copies by the button with this name. Resolves to the text of the clipboard. */
export async function copied(page: Page, label: string): Promise<string> {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: `Copy ${label}`, exact: true }).click();
  await page.getByRole('button', { name: `Copied ${label}`, exact: true }).waitFor();
  return String(await page.evaluate('navigator.clipboard.readText()'));
}
