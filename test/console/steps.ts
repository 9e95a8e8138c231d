import { expectEqual, until } from '@runwire/test-kit/shortfall.ts';
import type { Page } from 'playwright-core';
import { type Person, setUp } from './sign-in-pages.ts';
import type { VisitContext } from './visit.ts';

/* Steps that several visits take. */

export interface NewOwner extends Person {
  readonly ownerId: string;
  readonly apiKey: string;
  readonly setupLink: string;
}

/** An owner without integrations, whose set-up link was not used yet. */
export async function invite({ api, unique }: VisitContext, name: string): Promise<NewOwner> {
  const email = `${unique(name).replaceAll(' ', '-')}@example.com`;
  const { status, body } = await api.post('/v2/owners', { email });
  expectEqual('status of a new owner', status, 201);
  return { ...(body as Omit<NewOwner, 'password'>), password: 'a long enough password' };
}

/** A new owner who is signed in on the visit's page. */
export async function signInNewOwner(visit: VisitContext, name: string): Promise<NewOwner> {
  const owner = await invite(visit, name);
  await setUp(visit.page, owner.setupLink, owner);
  return owner;
}

/** Resolves when the page reports an error with this text. */
export const alert = (page: Page, text: string | RegExp): Promise<void> =>
  page.getByRole('alert').filter({ hasText: text }).waitFor();

/** Resolves when the page reports for a moment that something was done. */
export const toast = (page: Page, text: string | RegExp): Promise<void> =>
  page
    .getByRole('region', { name: /^Notifications/ })
    .getByText(text)
    .waitFor();

interface AgencyState {
  readonly agency: string;
  readonly version: string | null;
  readonly error: object | null;
  readonly process: { readonly state: string; readonly restarts: number } | null;
}

/** Resolves when the server lists the agency as wanted. The agency is undefined if it is not listed. */
export async function untilAgency(
  { api }: VisitContext,
  id: string,
  isWanted: (agency: AgencyState | undefined) => boolean,
): Promise<void> {
  await until(`agency ${id}`, async () => {
    const { body } = await api.get('/v2/agencies?limit=200');
    return isWanted((body.items as readonly AgencyState[]).find(({ agency }) => agency === id));
  });
}

export const isLoaded = (agency: AgencyState | undefined): boolean => agency?.error === null;
