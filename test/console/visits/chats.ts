import { expectEqual, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import type { Page } from 'playwright-core';
import type { ConsoleVisit, VisitContext } from '../visit.ts';

const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name }).waitFor();
const alert = (page: Page, text: string | RegExp) => page.getByRole('alert').filter({ hasText: text }).waitFor();

/** The link of a row in the list. It shows the first message. */
const chatLink = (page: Page, chat: string) =>
  page
    .getByRole('row')
    .filter({ has: page.getByText(chat, { exact: true }) })
    .getByRole('link')
    .first();

/** The calls of a transcript, each with what it got and returned. */
const listCalls = (page: Page) => page.getByRole('article', { name: 'Answer' }).getByRole('group');

/** A chat of the first member with one answer. */
async function newChat({ api, integration, seed, unique }: VisitContext, name: string): Promise<string> {
  const chatId = unique(name).replaceAll(' ', '-');
  const ids = { apiIntegrationId: integration, consumerId: seed.members[0], usageRequestId: chatId };
  const reader = await api.complete({ ...ids, chatId, message: 'Where is my order?' });
  await within('end of a run', WAIT_MS, reader.over);
  return chatId;
}

export const chatVisits: readonly ConsoleVisit[] = [
  {
    name: 'chats',
    async run(visit) {
      const { page, integration, seed } = visit;
      await visit.open(`integrations/${integration}/chats`);
      await chatLink(page, seed.chats.completed).getByText('Hello, I have a question (completed).').waitFor();
      await visit.checkPage('chats');
      const search = page.getByRole('combobox', { name: 'Search' });
      await search.fill('member:user-02 ');
      await chatLink(page, seed.chats.completed).waitFor({ state: 'hidden' });
      await chatLink(page, seed.chats.thinking).waitFor();
      expectEqual('the filter in the address', new URL(page.url()).search, '?member=user-02');
      await visit.checkPage('chats-of-member');
      await search.fill('nobody wrote this');
      await page.getByRole('heading', { name: 'No chat matches the filters' }).waitFor();
      await visit.checkPage('chats-not-found');
      await page.getByRole('button', { name: 'Clear filters' }).click();
      await chatLink(page, seed.chats.completed).waitFor();
      expectEqual('filters in the address', new URL(page.url()).search, '');
      const asking = page.getByRole('row').filter({ hasText: seed.chats.asking });
      await asking.getByText('waiting', { exact: true }).waitFor();
      await search.fill('status:running ');
      await asking.waitFor({ state: 'hidden' });
      await search.fill('status:waiting ');
      await asking.waitFor();
      await search.press('Backspace');
      await page.getByLabel('Sort by').selectOption('Creation');
      expectEqual('order in the address', new URL(page.url()).search, '?sort=created');
      await page.getByLabel('Time', { exact: true }).selectOption('Own range…');
      await page.getByLabel('From', { exact: true }).fill('2100-01-01T00:00');
      await page.getByRole('heading', { name: 'No chat matches the filters' }).waitFor();
      expectEqual('time in the address', new URL(page.url()).searchParams.get('from')?.slice(0, 4), '2100');
      if (visit.width >= 1280) {
        await visit.open(`integrations/${integration}/chats?peek=${seed.chats.failed}`);
        const side = page.getByRole('region', { name: 'Side panel' });
        await side.getByText('fail please').waitFor();
        await visit.checkPage('chats-side');
        await side.getByRole('link', { name: 'Open the chat' }).click();
        await page.getByText('The provider answered 503: overloaded.').waitFor();
      }
      await visit.open(`integrations/${seed.otherIntegration}/chats`);
      await page.getByRole('heading', { name: 'No chats yet' }).waitFor();
      await visit.checkPage('chats-empty');
    },
  },
  {
    name: 'chat-transcript',
    async run(visit) {
      const { page, integration, seed } = visit;
      await visit.open(`integrations/${integration}/chats`);
      await chatLink(page, seed.chats.completed).click();
      await heading(page, seed.chats.completed);
      await page.getByText('Your order A-1001 is on its way.').last().waitFor();
      await visit.checkPage('chat');
      const next = await page.getByRole('link', { name: 'Continue in the playground' }).getAttribute('href');
      const query = new URL(next ?? '', page.url()).searchParams;
      expectEqual('chat for the playground', query.get('chat'), seed.chats.completed);
      expectEqual('member for the playground', query.get('member'), seed.members[0]);
      await page.getByRole('link', { name: 'Open the run' }).last().click();
      await heading(page, 'Run of Triage');
      await visit.open(`integrations/${integration}/chats/${seed.chats.tool}`);
      const call = listCalls(page).filter({ hasText: 'find_order' });
      await call.getByText('completed', { exact: true }).waitFor();
      await call.getByText('Tool find_order').click();
      const given = call.getByRole('group', { name: 'arguments of find_order' });
      await given.getByText('A-1001').waitFor();
      await given.getByText('1234567890123456789', { exact: true }).waitFor();
      await call.getByRole('group', { name: 'output of find_order' }).getByText('parcels').waitFor();
      await visit.checkPage('chat-calls');
      await call.getByRole('link', { name: /^Step \d+$/ }).click();
      await page.getByRole('region', { name: 'input' }).getByText('A-1001').waitFor();
    },
  },
  {
    name: 'chat-ends',
    async run(visit) {
      const { page, integration, seed } = visit;
      await visit.open(`integrations/${integration}/chats/${seed.chats.failed}`);
      await page.getByText('The provider answered 503: overloaded.').waitFor();
      await page.getByText('failed', { exact: true }).waitFor();
      await visit.checkPage('chat-failed');
      await visit.open(`integrations/${integration}/chats/${seed.chats.cancelled}`);
      await page.getByText('cancelled', { exact: true }).waitFor();
      await visit.checkPage('chat-cancelled');
      await visit.open(`integrations/${integration}/chats/${seed.chats.brokenTool}`);
      const isFailed = listCalls(page).filter({ hasText: 'list_parcels' }).getByText('failed', { exact: true });
      await isFailed.and(page.locator('.badge-bad')).waitFor();
      await visit.open(`integrations/${integration}/chats/${seed.chats.team}`);
      await page.getByRole('heading', { name: 'Billing', exact: true }).waitFor();
      await visit.checkPage('chat-team');
      await visit.open(`integrations/${integration}/chats/${seed.chats.thinking}`);
      await page.getByText('Reasoning').click();
      await page.getByText('Then I look at its parcels.').waitFor();
      await visit.open(`integrations/${integration}/chats/${seed.chats.asking}`);
      await page.getByText('A call waits for an answer.').waitFor();
      await listCalls(page).filter({ hasText: 'refund' }).getByText('waiting', { exact: true }).waitFor();
      await page.getByRole('group', { name: 'arguments of refund' }).getByText('9900').waitFor();
      await page.getByRole('link', { name: 'Answer in the playground' }).waitFor();
      await visit.checkPage('chat-asking');
    },
  },
  {
    name: 'chat-changes',
    async run(visit) {
      const { page, integration } = visit;
      const chat = await newChat(visit, 'chat');
      const title = visit.unique('Order A-1001');
      await visit.open(`integrations/${integration}/chats/${chat}`);
      await page.getByRole('button', { name: 'Rename' }).click();
      await page.getByRole('dialog', { name: 'Rename the chat' }).getByLabel('Title').fill(title);
      await visit.checkPage('chat-rename');
      await page.getByRole('button', { name: 'Save title' }).click();
      await heading(page, title);
      await page.getByRole('button', { name: 'Delete' }).click();
      await visit.checkPage('chat-delete');
      await page.getByRole('button', { name: 'Delete chat' }).click();
      await heading(page, 'Chats');
      await page.getByText('The chat is deleted.', { exact: true }).first().waitFor();
      expectEqual('chats with the title', await page.getByRole('link', { name: title }).count(), 0);
      const { status } = await visit.api.get(`/v2/integrations/${integration}/chats/${chat}`);
      expectEqual('status of the deleted chat', status, 404);
    },
  },
  {
    name: 'chat-errors',
    async run(visit) {
      const { page, api, integration } = visit;
      await visit.expectRefusal(404, async () => {
        await visit.open(`integrations/${integration}/chats/no-such-chat`);
        await alert(page, 'chat_not_found');
      });
      await visit.checkPage('chat-unknown');
      const chat = await newChat(visit, 'deleted');
      await visit.open(`integrations/${integration}/chats/${chat}`);
      await page.getByRole('button', { name: 'Rename' }).click();
      await page.getByLabel('Title').fill('Too late');
      await api.delete(`/v2/integrations/${integration}/chats/${chat}`);
      await visit.expectRefusal(404, async () => {
        await page.getByRole('button', { name: 'Save title' }).click();
        await page.getByRole('dialog').getByRole('alert').filter({ hasText: 'chat_not_found' }).waitFor();
        // The page reads the chat again by itself, too.
        await visit.checkPage('chat-deleted-meanwhile');
      });
    },
  },
  {
    name: 'chat-forked-from-a-deleted-one',
    async run(visit) {
      const { page, api, integration } = visit;
      const path = `/v2/integrations/${integration}/chats/${await newChat(visit, 'forked')}`;
      const { body: fork } = await api.post(`${path}/fork`, {});
      await visit.open(`integrations/${integration}/chats/${fork.chatId}`);
      await page.getByText('Your order A-1001 is on its way.').waitFor();
      await api.delete(path);
      await visit.expectRefusal(404, async () => {
        await page.reload();
        await page.getByText('What the agents did was deleted').waitFor();
      });
      await page.getByText('Your order A-1001 is on its way.').waitFor();
      await visit.checkPage('chat-without-events');
    },
  },
  {
    name: 'chat-with-active-run',
    async run(visit) {
      const { page, api, rig, integration, seed } = visit;
      const chatId = visit.unique('active').replaceAll(' ', '-');
      const ids = { apiIntegrationId: integration, consumerId: seed.members[1], usageRequestId: chatId };
      const reader = await api.complete({ ...ids, chatId, message: 'hold on' });
      await within('text of the run', WAIT_MS, reader.untilText('while'));
      await visit.open(`integrations/${integration}/chats/${chatId}`);
      await page.getByText('This takes a while.').waitFor();
      await visit.checkPage('chat-running');
      await rig.model.release();
      await page.getByText('This takes a while. That is all.').waitFor();
    },
  },
];
