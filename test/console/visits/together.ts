import { expectEqual } from '@runwire/test-kit/shortfall.ts';
import { chooseInMenu, openMenu, setUp, signOut } from '../sign-in-pages.ts';
import { invite, signInNewOwner, toast } from '../steps.ts';
import type { ConsoleVisit, VisitContext } from '../visit.ts';
import { answers, ended, openPlayground, send, sentMessages } from './playground.ts';

/** An integration of this visit alone, with its settings open. */
async function openSettings({ api, open, unique }: VisitContext): Promise<string> {
  const path = `/v2/integrations/${unique('shared').replaceAll(' ', '-')}`;
  const { status } = await api.post('/v2/integrations', { apiIntegrationId: path.split('/').at(-1), name: 'Shared' });
  expectEqual('status of a new integration', status, 201);
  await open(`${path.slice('/v2/'.length)}?tab=settings`);
  return path;
}

/** Two tabs have the same chat. Each shows what the other one sends. */
export const twoTabsVisit: ConsoleVisit = {
  name: 'failed-and-team-turns-in-two-tabs',
  async run(visit) {
    const { page } = visit;
    await openPlayground({ ...visit, integration: 'demo' });
    await send(visit, 'tool absent {}');
    const isFailed = answers(page).getByRole('group').getByText('failed', { exact: true });
    await isFailed.and(page.locator('.badge-bad')).waitFor();
    await page.waitForURL(/chat=/);
    const other = await page.context().newPage();
    await other.goto(page.url());
    await ended({ ...visit, page: other }, 1);
    await send({ ...visit, page: other }, 'team up');
    await answers(page).nth(1).getByRole('heading', { name: 'Guide', exact: true }).waitFor();
    await ended(visit, 2);
  },
};

/** Several people, tabs and programs that change the same things. */
export const togetherVisits: readonly ConsoleVisit[] = [
  twoTabsVisit,
  {
    name: 'a-chat-in-three-tabs',
    async run(visit) {
      const { page, integration, seed } = visit;
      const member = seed.members[10] as string;
      await openPlayground(visit, { member });
      await send(visit, 'Hello from the first tab');
      await ended(visit, 1);
      const chat = new URL(page.url()).searchParams.get('chat') ?? '';
      const transcript = await page.context().newPage();
      await transcript.goto(visit.url(`integrations/${integration}/chats/${chat}`));
      await transcript.getByText('2 messages').waitFor();
      const second = await page.context().newPage();
      await second.goto(page.url());
      await send({ ...visit, page: second }, 'Hello from the second tab');
      // Both tabs show the turn by themselves.
      await sentMessages(page).getByText('Hello from the second tab').waitFor();
      await ended(visit, 2);
      await transcript.getByRole('list', { name: 'Messages' }).getByText('Hello from the second tab').waitFor();
      await transcript.getByText('4 messages').waitFor();
      await send(visit, 'Hello again');
      await ended({ ...visit, page: second }, 3);
      expectEqual('messages in the first tab', await sentMessages(page).count(), 3);
      expectEqual('messages in the second tab', await sentMessages(second).count(), 3);
    },
  },
  {
    name: 'another-person-in-another-tab',
    signedIn: false,
    async run(visit) {
      const { page } = visit;
      await signInNewOwner(visit, 'first');
      const second = await invite(visit, 'second');
      const tab = await page.context().newPage();
      await tab.goto(visit.url('keys'));
      await signOut(tab);
      await setUp(tab, second.setupLink, second);
      // The first person's token has ended, and the cookie is that of the second.
      await visit.expectRefusal(401, async () => {
        await chooseInMenu(page, 'API keys');
        await openMenu(page);
        await page.getByRole('button', { name: `Profile of ${second.email}` }).waitFor();
      });
    },
  },
  {
    name: 'settings-of-two-people',
    async run(visit) {
      const { page, api } = visit;
      const path = await openSettings(visit);
      const name = page.getByLabel('Name', { exact: true });
      await name.fill('Renamed');
      // What was typed is kept while the other tab is open.
      await page.getByRole('tab', { name: 'Connect' }).click();
      await page.getByRole('tab', { name: 'Settings' }).click();
      expectEqual('the typed name', await name.inputValue(), 'Renamed');
      const save = page.getByRole('button', { name: 'Save settings' });
      for (const [index, text] of ['Renamed', 'Renamed again'].entries()) {
        await api.patch(path, { maxRunsPerMember: 7 + index });
        await name.fill(text);
        await save.click();
        await page.getByRole('heading', { level: 1, name: text, exact: true }).waitFor();
      }
      const { body } = await api.get(path);
      expectEqual('what both have saved', [body.name, body.maxRunsPerMember], ['Renamed again', 8]);
    },
  },
  {
    name: 'member-of-page-and-backend',
    async run(visit) {
      const { page, api, integration } = visit;
      const id = visit.unique('both').replaceAll(' ', '-');
      const path = `/v2/integrations/${integration}/members/${id}`;
      await api.put(path, { name: 'Before', metadata: { plan: 'free' } });
      await visit.open(path.slice('/v2/'.length));
      await page.getByRole('button', { name: 'Change', exact: true }).click();
      const dialog = page.getByRole('dialog', { name: 'Change the member' });
      await dialog.getByLabel('Name').fill('After');
      await api.put(path, { metadata: { plan: 'paid' } });
      await dialog.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('heading', { level: 1, name: 'After' }).waitFor();
      const { body } = await api.get(path);
      expectEqual('the member', [body.name, body.metadata], ['After', { plan: 'paid' }]);
    },
  },
  {
    name: 'dialog-waits-for-its-request',
    async run(visit) {
      const { page } = visit;
      await visit.open('keys');
      const create = page.getByRole('button', { name: 'Create key' }).first();
      await create.click();
      const dialog = page.getByRole('dialog', { name: 'Create an API key' });
      await dialog.getByLabel('Name').fill(visit.unique('slow'));
      const arrived = Promise.withResolvers<void>();
      const answer = Promise.withResolvers<void>();
      await page.route('**/v2/api_keys', async (route) => {
        arrived.resolve();
        await answer.promise;
        await route.continue();
      });
      await dialog.getByRole('button', { name: 'Create key' }).click();
      await arrived.promise;
      await page.keyboard.press('Escape');
      await dialog.getByRole('button', { name: 'Cancel' }).click({ force: true });
      expectEqual('dialogs while the request runs', await dialog.count(), 1);
      answer.resolve();
      await page.getByRole('dialog', { name: 'Your new API key' }).getByRole('button', { name: 'Done' }).click();
      await page.unroute('**/v2/api_keys');
      await page.getByRole('button', { name: `Revoke ${visit.unique('slow')}` }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke key' }).click();
      await toast(page, 'is revoked.');
    },
  },
];
