import type { Page } from 'playwright-core';

/* The pages on which people sign in, and the menu, as a person uses them at any width. */

export interface Person {
  readonly email: string;
  readonly password: string;
}

export const FIRST_OWNER: Person = { email: 'ada@example.com', password: 'correct horse battery' };

export async function fillSetUp(page: Page, { email, password }: Person, repeated = password): Promise<void> {
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByLabel('Repeat the password').fill(repeated);
  await page.getByRole('button', { name: 'Set password and sign in' }).click();
}

export async function fillSignIn(page: Page, { email, password }: Person): Promise<void> {
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** Resolves when the page has the menu, which only people who are signed in have. Narrow pages show its button. */
export async function signedIn(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^(Menu\b.*|Profile of .+)$/ }).waitFor();
}

/** Resolves when the page asks for e-mail and password. */
export async function signedOut(page: Page): Promise<void> {
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
}

/** Uses a set-up link. */
export async function setUp(page: Page, setupLink: string, person: Person): Promise<void> {
  await page.goto(setupLink);
  await fillSetUp(page, person);
  await signedIn(page);
}

/** Opens the menu of narrow pages; on wide pages it is always open. */
export async function openMenu(page: Page): Promise<void> {
  const button = page.getByRole('button', { name: 'Menu' });
  await signedIn(page);
  const isOpen = await page.getByRole('navigation', { name: 'Pages' }).isVisible();
  if (!isOpen) await button.click();
}

/** Chooses a page in the menu. */
export async function chooseInMenu(page: Page, name: string): Promise<void> {
  await openMenu(page);
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true }).click();
  await page.getByRole('heading', { level: 1, name }).waitFor();
}

/** Chooses an item in the person's menu. */
export async function chooseInProfile(page: Page, name: string): Promise<void> {
  await openMenu(page);
  await page.getByRole('button', { name: /^Profile of / }).click();
  await page.getByRole('menuitem', { name, exact: true }).click();
}

export async function signOut(page: Page): Promise<void> {
  await chooseInProfile(page, 'Sign out');
  await signedOut(page);
}
