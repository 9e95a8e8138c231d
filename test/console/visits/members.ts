import { expectEqual } from '@runwire/test-kit/shortfall.ts';
import type { Page } from 'playwright-core';
import type { ConsoleVisit, VisitContext } from '../visit.ts';
import { shown } from './table-cell.ts';

const alert = (page: Page, text: string | RegExp) => page.getByRole('alert').filter({ hasText: text }).waitFor();
const status = (page: Page, text: string | RegExp) => page.getByRole('status').filter({ hasText: text }).waitFor();
const title = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name }).waitFor();
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const dialog = (page: Page) => page.getByRole('dialog');

const getMembers = ({ integration }: VisitContext) => `integrations/${integration}/members`;
const getId = (visit: VisitContext, name: string) => visit.unique(name).replaceAll(' ', '-');

/** Registers a member past the page, and opens its page. */
async function openNewMember(visit: VisitContext, name: string): Promise<string> {
  const id = getId(visit, name);
  const { status: answered } = await visit.api.put(`/v2/${getMembers(visit)}/${id}`, { name });
  expectEqual('status of a member', answered, 201);
  await visit.open(`${getMembers(visit)}/${id}`);
  await title(visit.page, name);
  return id;
}

/** The first member's allowance bar is what the API has. */
async function checkAllowance({ page, api, integration, seed }: VisitContext): Promise<void> {
  const [id = ''] = seed.members;
  const { body } = await api.get(`/v2/integrations/${integration}/members/${id}`);
  const { used, reserved, limit, unit } = body.allowance;
  const row = page.getByRole('row').filter({ hasText: seed.names[0] ?? '' });
  const label = `${shown(used + reserved)} of ${shown(limit)} ${unit} used`;
  await row.getByText(label).waitFor({ state: 'attached' });
  const style = (await row.getByTitle(label).locator('span').getAttribute('style')) ?? '';
  const share = Number(/^width: ([\d.]+)%/.exec(style)?.[1]);
  expectEqual('the share of the bar', share.toFixed(2), ((100 * (used + reserved)) / limit).toFixed(2));
}

async function openRegistration(visit: VisitContext): Promise<void> {
  await visit.open(getMembers(visit));
  await button(visit.page, 'Register member').click();
  await dialog(visit.page).getByRole('heading', { name: 'Register a member' }).waitFor();
}

const register = (page: Page) => dialog(page).getByRole('button', { name: 'Register member' }).click();

export const memberVisits: readonly ConsoleVisit[] = [
  {
    name: 'members',
    async run(visit) {
      const { page, seed } = visit;
      await visit.open(getMembers(visit));
      await page.getByRole('link', { name: seed.names.at(-1) ?? '' }).waitFor();
      await page.getByRole('table', { name: 'members' }).getByText('inactive').first().waitFor();
      await visit.checkPage('members');
      await page.getByLabel('Search').fill(seed.names[0] ?? '');
      await status(page, /^1 member$/);
      await checkAllowance(visit);
      await page.getByLabel('Search').fill('gret');
      await status(page, /^1 member$/);
      await page.getByRole('link', { name: 'Greta Holm' }).waitFor();
      expectEqual('search in the address', new URL(page.url()).searchParams.get('q'), 'gret');
      await page.getByLabel('Search').fill('tanak');
      await page.getByRole('link', { name: 'Hiro Tanaka' }).waitFor();
      await page.reload();
      await status(page, /^1 member$/);
      await page.getByLabel('Search').fill('nobody has this name');
      await page.getByRole('heading', { name: 'No member found' }).waitFor();
      await visit.checkPage('members-none-found');
      await button(page, 'Clear filters').click();
      await page.getByRole('link', { name: seed.names.at(-1) ?? '' }).waitFor();
      expectEqual('filters in the address', new URL(page.url()).search, '');
    },
  },
  {
    name: 'members-empty',
    async run(visit) {
      await visit.open(`integrations/${visit.seed.otherIntegration}/members`);
      await visit.page.getByRole('heading', { name: 'No members yet' }).waitFor();
      expectEqual('buttons that register', await button(visit.page, 'Register member').count(), 1);
      await visit.checkPage('members-empty');
    },
  },
  {
    name: 'members-of-no-integration',
    async run(visit) {
      await visit.expectRefusal(404, async () => {
        await visit.open('integrations/no-such-integration/members');
        await alert(visit.page, /integration/);
      });
      await visit.checkPage('members-no-integration');
    },
  },
  {
    name: 'register-member',
    async run(visit) {
      const { page } = visit;
      const id = getId(visit, 'new');
      await openRegistration(visit);
      await visit.checkPage('member-register');
      await dialog(page).getByLabel('Id').fill(id);
      await dialog(page).getByLabel('Name').fill('New member');
      await dialog(page).getByLabel('Own limit').fill('5000');
      await dialog(page).getByLabel('Metadata').fill('{"plan": "Pro"}');
      await register(page);
      await dialog(page).waitFor({ state: 'hidden' });
      await page.getByLabel('Search').fill(id);
      await status(page, /^1 member$/);
      await page.getByRole('link', { name: 'New member' }).click();
      await title(page, 'New member');
      await page.getByText('This member has its own limit.').waitFor();
      await visit.checkPage('member-registered');
    },
  },
  {
    name: 'register-member-refused',
    async run(visit) {
      const { page, seed } = visit;
      await openRegistration(visit);
      await dialog(page)
        .getByLabel('Id')
        .fill(seed.members[0] ?? '');
      await register(page);
      await alert(page, 'A member with this id exists already.');
      await visit.checkPage('member-register-known-id');
      await dialog(page).getByLabel('Id').fill('x'.repeat(257));
      await register(page);
      await alert(page, 'The id must have 1 to 256 characters');
      await dialog(page).getByLabel('Id').fill(getId(visit, 'refused'));
      await dialog(page).getByLabel('Metadata').fill('{"plan": ');
      await register(page);
      await alert(page, 'Metadata is not valid JSON');
      await visit.checkPage('member-register-wrong-metadata');
      await dialog(page).getByLabel('Metadata').fill('["Pro"]');
      await register(page);
      await alert(page, 'Metadata must be a JSON object');
      await dialog(page)
        .getByLabel('Metadata')
        .fill(JSON.stringify({ text: 'x'.repeat(20_000) }));
      await visit.expectRefusal(400, () => register(page));
      await alert(page, /^metadata/);
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Discard changes' }).click();
      await dialog(page).waitFor({ state: 'hidden' });
    },
  },
  {
    name: 'member',
    async run(visit) {
      const { page, seed } = visit;
      await visit.open(`${getMembers(visit)}/${seed.members[0]}`);
      await title(page, seed.names[0] ?? '');
      await page.getByText('An answer was repeated.').waitFor();
      await visit.checkPage('member');
      const links = page.getByRole('navigation', { name: 'Of this member' });
      const playground = links.getByRole('link', { name: 'Playground as this member' });
      const address = new URL((await playground.getAttribute('href')) ?? '', page.url());
      expectEqual('member of the link', address.searchParams.get('member'), seed.members[0]);
      const files = new URL((await links.getByRole('link', { name: 'Files' }).getAttribute('href')) ?? '', page.url());
      expectEqual('folder of the link', files.searchParams.get('folder'), `/app/mnt/members/${seed.members[0]}`);
      await page.getByRole('tab', { name: 'Runs' }).click();
      await page
        .getByRole('link', { name: /^Where is my order\?/ })
        .first()
        .waitFor();
      await visit.checkPage('member-runs');
      await page.getByRole('tab', { name: 'Chats' }).click();
      await page
        .getByRole('table', { name: 'chats' })
        .getByRole('row')
        .filter({ hasText: seed.chats.completed })
        .waitFor();
      await visit.checkPage('member-chats');
      await page.getByRole('tab', { name: 'Usage' }).click();
      await page.getByRole('table', { name: /^Tokens by day/ }).waitFor();
      expectEqual('tab in the address', new URL(page.url()).search, '?tab=usage');
      await visit.checkPage('member-usage');
    },
  },
  {
    name: 'member-unknown',
    async run(visit) {
      const { page } = visit;
      await visit.expectRefusal(404, async () => {
        await visit.open(`${getMembers(visit)}/no-such-member`);
        await page.getByRole('heading', { name: 'No member has this id' }).waitFor();
      });
      await visit.checkPage('member-unknown');
      await page.getByRole('link', { name: 'All members' }).click();
      await title(page, 'Members');
    },
  },
  {
    name: 'change-member',
    async run(visit) {
      const { page } = visit;
      await openNewMember(visit, 'Changing');
      await button(page, 'Change').click();
      await dialog(page).getByLabel('Name').fill('Changed');
      await dialog(page).getByLabel('Own limit').fill('700');
      await dialog(page).getByLabel('Metadata').fill('no JSON');
      await dialog(page).getByRole('button', { name: 'Save' }).click();
      await alert(page, 'Metadata is not valid JSON');
      await visit.checkPage('member-change-refused');
      await dialog(page).getByLabel('Metadata').fill('{"plan": "Team"}');
      await dialog(page).getByRole('button', { name: 'Save' }).click();
      await title(page, 'Changed');
      await page.getByText('"Team"').waitFor();
      await button(page, 'Deactivate').click();
      await visit.checkPage('member-deactivate');
      await dialog(page).getByRole('button', { name: 'Deactivate' }).click();
      await page.getByText('inactive', { exact: true }).waitFor();
      await button(page, 'Activate').click();
      await button(page, 'Deactivate').waitFor();
      await button(page, 'Change').click();
      await dialog(page).getByLabel('Name').fill('');
      await dialog(page).getByLabel('Own limit').fill('');
      await dialog(page).getByLabel('Metadata').fill('');
      await dialog(page).getByRole('button', { name: 'Save' }).click();
      await page.getByText('The limit is that of the integration.').waitFor();
    },
  },
  {
    name: 'adjust-member',
    async run(visit) {
      const { page } = visit;
      const id = await openNewMember(visit, 'Adjusting');
      const adjust = () => dialog(page).getByRole('button', { name: 'Adjust' }).click();
      await button(page, 'Adjust usage').click();
      await dialog(page).getByLabel('Direction').selectOption('-1');
      await dialog(page).getByLabel('Amount in tokens').fill('0.5');
      await dialog(page).getByLabel('Reason').fill('Half a token');
      await visit.expectRefusal(400, adjust);
      await alert(page, /amount/);
      await visit.checkPage('member-adjust-refused');
      await dialog(page).getByLabel('Amount in tokens').fill('20000');
      await dialog(page).getByLabel('Reason').fill('Everything is taken.');
      await adjust();
      await dialog(page).waitFor({ state: 'hidden' });
      await page.getByText('exhausted', { exact: true }).waitFor();
      await page.getByText('Everything is taken.').waitFor();
      await visit.checkPage('member-exhausted');
      await adjustOnce(visit, id);
    },
  },
  {
    name: 'adjust-member-without-allowances',
    async run(visit) {
      const { page, seed, api } = visit;
      const id = getId(visit, 'unlimited');
      await api.put(`/v2/integrations/${seed.otherIntegration}/members/${id}`, {});
      await visit.open(`integrations/${seed.otherIntegration}/members/${id}`);
      await page.getByText('Allowances are off').waitFor();
      const settings = await page.getByRole('link', { name: 'settings of the integration' }).getAttribute('href');
      expectEqual('tab of the link', new URL(settings ?? '', page.url()).searchParams.get('tab'), 'settings');
      await visit.checkPage('member-no-allowance');
      // The page Members of this integration must stay empty for other visits.
      await api.delete(`/v2/integrations/${seed.otherIntegration}/members/${id}`);
    },
  },
  {
    name: 'erase-member',
    async run(visit) {
      const { page, rig } = visit;
      const id = await openNewMember(visit, 'Erasing');
      await button(page, 'Erase').click();
      await dialog(page).getByLabel(`Type ${id} to confirm`).fill('something else');
      await dialog(page).getByRole('button', { name: 'Erase member' }).click();
      await alert(page, `Type exactly ${id}.`);
      await visit.checkPage('member-erase');
      await dialog(page).getByLabel(`Type ${id} to confirm`).fill(id);
      await Promise.all([
        status(page, 'The member is being erased.'),
        dialog(page).getByRole('button', { name: 'Erase member' }).click(),
      ]);
      await status(page, 'The member is erased.');
      await visit.checkPage('member-erased');
      await visit.expectRefusal(404, async () => {
        await page.reload();
        await status(page, 'The member is erased.');
      });
      await rig.getWatch(page).quiet();
    },
  },
];

/** A request whose answer is lost is sent again by the person, and has one effect. */
async function adjustOnce({ page, integration, api, expectRefusal }: VisitContext, id: string): Promise<void> {
  const path = `/v2/integrations/${integration}/members/${id}/adjustments`;
  await button(page, 'Adjust usage').click();
  await dialog(page).getByLabel('Amount in tokens').fill('100');
  await dialog(page).getByLabel('Reason').fill('Sent twice');
  await page.route(`**${path}`, async (route) => {
    await route.fetch();
    await route.abort('connectionreset');
  });
  await expectRefusal('outage', async () => {
    await dialog(page).getByRole('button', { name: 'Adjust' }).click();
    await alert(page, 'It is not known if the request was carried out.');
  });
  await page.unroute(`**${path}`);
  await dialog(page).getByRole('button', { name: 'Adjust' }).click();
  await dialog(page).waitFor({ state: 'hidden' });
  const { body } = await api.get(path);
  const made = body.items.filter(({ reason }: { readonly reason: string }) => reason === 'Sent twice');
  expectEqual('adjustments that were made', made.length, 1);
}
