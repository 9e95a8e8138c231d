import { expectEqual, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import type { Page } from 'playwright-core';
import { openMenu } from '../sign-in-pages.ts';
import type { ConsoleVisit, VisitContext } from '../visit.ts';

const card = (page: Page, chatId: string) => page.getByRole('article', { name: `Questions of the chat ${chatId}` });
const status = (page: Page, text: string | RegExp) => page.getByRole('status').filter({ hasText: text }).waitFor();

/** A chat whose run asks for an approval of these refunds. Resolves to its id. */
async function askFor({ api, integration, seed, unique }: VisitContext, ...orders: string[]): Promise<string> {
  const chatId = unique(`asks ${orders.join(' ')}`).replaceAll(' ', '-');
  const message = orders.map((order) => `tool refund {"order":"${order}","cents":100}`).join('\n');
  const ids = { apiIntegrationId: integration, consumerId: seed.members[2], usageRequestId: chatId, chatId };
  const reader = await api.complete({ ...ids, agent: 'Billing', message });
  await within('end of a run that asks', WAIT_MS, reader.over);
  return chatId;
}

interface ListedAnswer {
  readonly chatId: string;
  readonly decision: string;
  readonly reason: string | null;
  readonly answeredBy: { readonly kind: string };
}

async function getAnswers({ api }: VisitContext, chatId: string) {
  const { body } = await api.get('/v2/questions?state=answered&limit=200');
  const answers = (body.items as readonly ListedAnswer[]).filter((item) => item.chatId === chatId);
  return answers.map(({ decision, reason, answeredBy }) => [decision, reason, answeredBy.kind]);
}

/** A person corrects a call, and allows the tool for the chat. The chat's page removes it. */
const correctedCall: ConsoleVisit = {
  name: 'corrected-call',
  async run(visit) {
    const { page, api, integration } = visit;
    const chatId = await askFor(visit, 'B-6');
    await visit.open('approvals');
    await card(page, chatId).getByRole('button', { name: 'Correct' }).click();
    const field = card(page, chatId).getByLabel('Corrected arguments');
    await field.fill('{"order":"B-6","cents":"fifty"}');
    await card(page, chatId).getByText('input/cents must be integer').waitFor();
    await visit.checkPage('approvals-correct');
    await card(page, chatId).getByRole('button', { name: 'Approve' }).click();
    expectEqual('a field with wrong arguments has the focus', await field.evaluate((it) => it.matches(':focus')), true);
    await field.fill('{"order":"B-6","cents":50}');
    await card(page, chatId).getByLabel('Allow in this chat').check();
    await card(page, chatId).getByRole('button', { name: 'Approve' }).click();
    await status(page, 'The answer was sent');
    await page.getByRole('tab', { name: 'Answered' }).click();
    const row = page.getByRole('row').filter({ hasText: 'Corrected to {"order":"B-6","cents":50}' }).first();
    await row.getByText('Allowed in the chat').waitFor();
    await visit.open(`integrations/${integration}/chats/${chatId}`);
    const allowed = page.getByRole('region', { name: 'Allowed in this chat' });
    await allowed.getByText('refund').waitFor();
    await page.getByRole('group', { name: 'corrected arguments of refund' }).getByText('50').waitFor();
    await visit.checkPage('chat-allowed-tools');
    await allowed.getByRole('button', { name: 'Ask again before calls of refund' }).click();
    await allowed.waitFor({ state: 'hidden' });
    const { body: chat } = await api.get(`/v2/integrations/${integration}/chats/${chatId}`);
    expectEqual('approvals of the chat', chat.approvals, []);
  },
};

export const approvalVisits: readonly ConsoleVisit[] = [
  correctedCall,
  {
    name: 'approvals',
    async run(visit) {
      const { page } = visit;
      const [approved, declined, corrected] = [
        await askFor(visit, 'B-1'),
        await askFor(visit, 'B-2', 'B-3'),
        await askFor(visit, 'B-4'),
      ];
      await visit.open('keys');
      await openMenu(page);
      await page.getByRole('link', { name: /^Approvals ?\d+\+? open$/ }).click();
      await card(page, approved).waitFor();
      await page.waitForFunction('/^\\(\\d+\\+?\\) Approvals · Runwire$/.test(document.title)');
      await visit.checkPage('approvals');
      await card(page, approved).getByRole('button', { name: 'Approve' }).click();
      await status(page, 'The answer was sent');
      await card(page, approved).waitFor({ state: 'hidden' });
      expectEqual('the approved call', await getAnswers(visit, approved), [['approved', null, 'person']]);
      const second = card(page, declined).getByRole('group', { name: 'Approve the call of refund?' });
      for (const one of await second.all()) await one.getByLabel('Decision').selectOption('Decline');
      await second.filter({ hasText: 'B-3' }).getByLabel('Reason (optional)').fill('Paid back in May.');
      await card(page, declined).getByRole('button', { name: 'Send answers' }).click();
      await card(page, declined).waitFor({ state: 'hidden' });
      const answers = await getAnswers(visit, declined);
      expectEqual('the declined calls', answers.map(String).toSorted(), [
        'declined,,person',
        'declined,Paid back in May.,person',
      ]);
      const change = card(page, corrected).getByRole('button', { name: 'Ask for a change' });
      await change.click();
      const reason = card(page, corrected).getByLabel('Reason (optional)');
      const problem = await reason.evaluate(
        (field) => (field as unknown as { validationMessage: string }).validationMessage,
      );
      expectEqual('a change without a reason', problem, 'Write what the agent must change.');
      await reason.fill('Pay back 50 only.');
      await change.click();
      await card(page, corrected).waitFor({ state: 'hidden' });
      expectEqual('the call to change', await getAnswers(visit, corrected), [
        ['declined', 'Pay back 50 only.', 'person'],
      ]);
      await page.getByRole('tab', { name: 'Answered' }).click();
      const row = page.getByRole('row').filter({ hasText: 'Pay back 50 only.' }).first();
      await row.getByText('declined').waitFor();
      await visit.checkPage('approvals-answered');
    },
  },
  {
    name: 'approved-elsewhere',
    async run(visit) {
      const { page, api, integration } = visit;
      const chatId = await askFor(visit, 'B-5');
      await visit.open('approvals');
      await card(page, chatId).waitFor();
      const { body: chat } = await api.get(`/v2/integrations/${integration}/chats/${chatId}`);
      const answers = [{ questionId: chat.pending[0].questionId, approve: true }];
      // The page has not read the list again yet.
      const released = Promise.withResolvers<void>();
      await page.route('**/v2/questions?*', async (route) => {
        await released.promise;
        await route.continue();
      });
      expectEqual(
        'status of the other answer',
        (await api.post(`/v2/integrations/${integration}/chats/${chatId}/answers`, { answers })).status,
        201,
      );
      await visit.expectRefusal(400, async () => {
        await card(page, chatId).getByRole('button', { name: 'Decline' }).click();
        await page.getByText('The call was answered before').first().waitFor();
      });
      released.resolve();
      await card(page, chatId).waitFor({ state: 'hidden' });
    },
  },
];
