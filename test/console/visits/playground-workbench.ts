import { expectEqual } from '@runwire/test-kit/shortfall.ts';
import type { Page } from 'playwright-core';
import { isLoaded, untilAgency } from '../steps.ts';
import type { ConsoleVisit, VisitContext } from '../visit.ts';
import { answers, ended, getRunId, newIntegration, openPlayground, send, sentMessages } from './playground.ts';

const DESK = `name: Desk
entryPoints: [Guide, Clerk]
agents:
  - { name: Guide, instructions: "The user has the plan {{user_context.plan}}." }
  - { name: Clerk, instructions: You are short. }
`;

/** The settings besides member and entry point. They are open on wide pages. */
async function openMoreSettings(page: Page): Promise<void> {
  const more = page.getByRole('complementary', { name: 'Settings' }).getByRole('group');
  if ((await more.first().getAttribute('open')) === null) await page.getByText('More settings').click();
}

const getChat = (page: Page) => new URL(page.url()).searchParams.get('chat') ?? '';

/** What the page sends to start a run. */
async function sentBody({ page }: VisitContext, action: () => Promise<void>): Promise<Record<string, unknown>> {
  const request = page.waitForRequest('**/get_completion_v2');
  await action();
  return (await request).postDataJSON() as Record<string, unknown>;
}

async function countMessages({ api }: VisitContext, integration: string, chat: string): Promise<number> {
  return (await api.get(`/v2/integrations/${integration}/chats/${chat}`)).body.numMessages;
}

/** `user_context`, instructions, drafts and the code of a request. */
async function checkSettings(visit: VisitContext): Promise<void> {
  const { page } = visit;
  const field = page.getByRole('textbox', { name: 'Message' });
  await field.fill('Not sent yet');
  await page.reload();
  await field.waitFor();
  expectEqual('the draft after a reload', await field.inputValue(), 'Not sent yet');
  await send(visit, 'Hello');
  await ended(visit, 1);
  await openMoreSettings(page);
  await page.getByRole('region', { name: 'Instructions' }).getByText('the plan {{user_context.plan}}').waitFor();
  const context = page.getByRole('textbox', { name: 'user_context' });
  await page.getByRole('button', { name: 'Add plan to user_context' }).click();
  expectEqual('the suggested value', await context.inputValue(), '{\n  "plan": ""\n}');
  await context.fill('{"plan"');
  await send(visit, 'Is not sent');
  await page.getByRole('alert').getByText('is no valid JSON').waitFor();
  await visit.checkPage('playground-wrong-context');
  await context.fill('{"plan":"pro"}');
  const body = await sentBody(visit, () => send(visit, 'Which plan?'));
  expectEqual('the context of the request', body.user_context, { plan: 'pro' });
  await ended(visit, 2);
  await field.fill('What else?');
  await page.getByRole('button', { name: 'View code' }).click();
  const dialog = page.getByRole('dialog', { name: 'Code of this request' });
  for (const [language, text] of [
    ['curl', '"user_context":{"plan":"pro"}'],
    ['TypeScript', 'user_context: {"plan":"pro"}'],
    ['Python', 'user_context={"plan": "pro"}'],
  ] as const) {
    await dialog.getByRole('tab', { name: language }).click();
    const code = (await dialog.getByRole('region', { name: `${language} code` }).textContent()) ?? '';
    const parts = ['What else?', text, getChat(page)];
    expectEqual(
      `the ${language} code`,
      parts.filter((part) => !code.includes(part)),
      [],
    );
  }
  await visit.checkPage('playground-code');
  await dialog.getByRole('button', { name: 'Close' }).click();
  await field.fill('');
}

/** A changed message, and another answer, each in a copy of the chat. */
async function checkCopies(visit: VisitContext, integration: string): Promise<void> {
  const { page } = visit;
  const first = getChat(page);
  const field = page.getByRole('textbox', { name: 'Message' });
  await sentMessages(page).nth(1).getByRole('button', { name: 'Edit' }).click();
  expectEqual('the message to be edited', await field.inputValue(), 'Which plan?');
  await page.getByText('What you send continues in a copy of the chat.').waitFor();
  await visit.checkPage('playground-edit');
  await send(visit, 'Which day?');
  await sentMessages(page).getByText('Which day?').waitFor();
  await ended(visit, 2);
  expectEqual('messages of the copy', await sentMessages(page).count(), 2);
  const second = getChat(page);
  const listChats = async () => (await visit.api.get(`/v2/integrations/${integration}/chats`)).body.items.length;
  const chats = await listChats();
  // The second click of a person who sees nothing happen makes no second copy.
  await page.getByRole('button', { name: 'Regenerate' }).dblclick();
  await page.waitForURL(({ search }) => !search.includes(second));
  await ended(visit, 2);
  expectEqual('chats after the other copy', await listChats(), chats + 1);
  expectEqual('messages of the other copy', await sentMessages(page).count(), 2);
  await sentMessages(page).last().getByText('Which day?').waitFor();
  for (const chat of [first, second]) {
    expectEqual('messages that are kept', await countMessages(visit, integration, chat), 4);
  }
}

/** The last answer beside that of another model. */
async function checkModels(visit: VisitContext): Promise<void> {
  const { page } = visit;
  const address = page.url();
  await page.getByRole('button', { name: 'Compare models' }).click();
  const dialog = page.getByRole('dialog', { name: 'Compare models' });
  const model = dialog.getByLabel('Model');
  await model.fill('nonsense');
  await visit.expectRefusal(400, async () => {
    await dialog.getByRole('button', { name: 'Compare' }).click();
    await dialog.locator('[aria-invalid="true"]').waitFor();
  });
  await visit.checkPage('playground-models');
  await model.fill('scripted/model');
  await dialog.getByRole('button', { name: 'Compare' }).click();
  await page.getByRole('heading', { level: 1, name: 'Compare two runs' }).waitFor();
  await page.getByRole('heading', { name: 'Rerun' }).first().waitFor();
  await page.goto(address);
  await ended(visit, 2);
}

/** One message to two agents. */
async function checkComparison(visit: VisitContext, integration: string): Promise<void> {
  const { page, api } = visit;
  await openMoreSettings(page);
  await page.getByLabel('Compare with').selectOption('Clerk');
  const columns = page.getByRole('region', { name: /^Conversation with / });
  await columns.nth(1).getByRole('article', { name: 'Answer' }).nth(1).waitFor();
  await send(visit, 'think about both');
  const ends = columns.getByRole('article', { name: 'Answer' }).filter({ hasText: 'Reasoning' });
  const links = ends.getByRole('link', { name: 'Open the run' });
  await links.nth(1).waitFor();
  await visit.checkPage('playground-compare');
  const agents: string[] = [];
  for (const link of await links.all()) {
    const { body } = await api.get(`/v2/integrations/${integration}/runs/${await getRunId(link)}`);
    agents.push(body.agent);
  }
  expectEqual('the agents of the runs', agents, ['Guide', 'Clerk']);
  await page.reload();
  await columns.nth(1).getByText('think about both').waitFor();
  await openMoreSettings(page);
  await page.getByLabel('Compare with').selectOption('None');
  await columns.nth(1).waitFor({ state: 'hidden' });
  expectEqual('answers of the chat', await answers(page).count(), 3);
}

export const workbenchVisit: ConsoleVisit = {
  name: 'playground-workbench',
  async run(visit) {
    const { page, rig } = visit;
    const agency = visit.unique('desk').replaceAll(' ', '-');
    rig.agencies.write({ [`${agency}/agency.yaml`]: DESK });
    await untilAgency(visit, agency, isLoaded);
    const integration = await newIntegration(visit, 'workbench', agency);
    await openPlayground({ ...visit, integration });
    await page.getByRole('heading', { name: 'New chat with Guide' }).waitFor();
    await checkSettings(visit);
    await checkCopies(visit, integration);
    await checkModels(visit);
    await checkComparison(visit, integration);
    rig.agencies.delete(agency);
    await untilAgency(visit, agency, (found) => found === undefined);
  },
};
