import type { Page } from 'playwright-core';

/* The pages on which people sign in, as a person uses them. */

export interface Person {
  readonly email: string;
  readonly password: string;
}

export const FIRST_OWNER: Person = { email: 'ada@example.com', password: 'correct horse battery' };

interface Console {
  url(path: string): string;
}

export async function fillSetUp(page: Page, { email, password }: Person): Promise<void> {
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Set password' }).click();
}

export async function fillSignIn(page: Page, { email, password }: Person): Promise<void> {
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** Resolves when the page shows that the person is signed in. */
export async function signedIn(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Profile/ }).waitFor();
}

/** Resolves when the page asks for e-mail and password. */
export async function signedOut(page: Page): Promise<void> {
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
}

/** Uses a set-up link. */
export async function setUp(_: Console, page: Page, setupLink: string, person: Person): Promise<void> {
  await page.goto(setupLink);
  await fillSetUp(page, person);
  await signedIn(page);
}

/** Signs in by e-mail and password. */
export async function signIn(console: Console, page: Page, person: Person): Promise<void> {
  await page.goto(console.url(''));
  await fillSignIn(page, person);
  await signedIn(page);
}
