import { expectAtMost, expectEqual, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import type { Locator, Page } from 'playwright-core';
import type { ConsoleVisit, VisitContext } from '../visit.ts';

const getAddress = (integration: string, fields: Readonly<Record<string, string>> = {}) =>
  `integrations/${integration}/playground?${new URLSearchParams(fields)}`;

/** From this width on the steps are beside the chat. */
const STEPS_BESIDE_PX = 1152;

export const sentMessages = (page: Page) => page.getByRole('article', { name: 'User message' });
export const answers = (page: Page) => page.getByRole('article', { name: 'Answer' });

export async function send({ page }: VisitContext, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Message' }).fill(text);
  await page.getByRole('button', { name: 'Send', exact: true }).and(page.locator('[aria-disabled="false"]')).waitFor();
  await page.keyboard.press('Enter');
}

/** Waits until the last of this many answers has ended. */
export async function ended({ page }: VisitContext, count: number): Promise<void> {
  await answers(page)
    .nth(count - 1)
    .getByRole('link', { name: 'Open the run' })
    .waitFor();
}

/** What the field for a message covers would count as too small for a finger. */
export async function toEnd({ page }: VisitContext): Promise<void> {
  await page.keyboard.press('End');
  const jump = page.getByRole('button', { name: 'Jump to the latest' });
  await jump.evaluateAll((buttons) => {
    for (const button of buttons) button.click();
  });
  await jump.waitFor({ state: 'hidden' });
}

/** Checks a long chat in a window that shows all of it, so that no button is partly below the bar or the composer. */
async function checkWhole({ page, checkPage }: VisitContext, name: string): Promise<void> {
  const size = page.viewportSize() ?? { width: 0, height: 0 };
  const height = await page.evaluate<number>('document.documentElement.scrollHeight');
  await page.setViewportSize({ ...size, height });
  await checkPage(name);
  await page.setViewportSize(size);
}

export async function chooseMember({ page }: VisitContext, member: string): Promise<void> {
  await page.getByRole('combobox', { name: 'Member', exact: true }).fill(member);
  await page.keyboard.press('Enter');
}

export async function openPlayground(
  visit: VisitContext,
  fields: Readonly<Record<string, string>> = {},
): Promise<void> {
  await visit.open(getAddress(visit.integration, fields));
  await visit.page.getByRole('heading', { level: 1, name: 'Playground' }).waitFor();
}

/** The id of the run that the link opens. */
export const getRunId = async (link: Locator): Promise<string> =>
  (await link.getAttribute('href'))?.split('/').at(-1) ?? '';

/** The steps that the page lists beside the chat, or below it on narrow pages. */
async function expectSteps({ page, width }: VisitContext, steps: readonly string[]): Promise<void> {
  const isFolded = width < STEPS_BESIDE_PX;
  if (isFolded) await page.getByText('Steps of the last run').click();
  const pane = isFolded
    ? page.getByRole('group').filter({ hasText: 'Steps of the last run' })
    : page.getByRole('complementary', { name: 'Steps of the last run' });
  const lines = pane.getByRole('listitem');
  await lines.nth(steps.length - 1).waitFor();
  const texts = (await lines.allInnerTexts()).map((text) => text.split('\n').filter((line) => line !== ''));
  const found = texts.map((text) => `${text.at(-1)?.split(',', 1)[0]}: ${text[0]}`);
  expectEqual('steps of the last run', found, steps);
  const [inPane, inAnswer] = await Promise.all([
    getRunId(pane.getByRole('link', { name: 'Open the run with all details' })),
    getRunId(answers(page).last().getByRole('link', { name: 'Open the run' })),
  ]);
  expectEqual('the run of the steps', inPane, inAnswer);
  if (isFolded) await page.getByText('Steps of the last run').click();
}

/** Resolves when screen readers get this text. */
export const announced = ({ page }: VisitContext, text: string): Promise<void> =>
  page.getByRole('status').filter({ hasText: text }).waitFor();

const TEAM_STEPS = [
  'Triage: scripted/model',
  'Triage: send_message',
  'Research: scripted/model',
  'Triage: scripted/model',
  'Triage: transfer_to_Billing',
  'Billing: scripted/model',
];

/** The reloaded turns have everything that was shown while they were made. */
async function checkKept({ page }: VisitContext): Promise<void> {
  const [, thought, called, team] = await answers(page).all();
  await thought?.scrollIntoViewIfNeeded();
  await thought?.getByText('Reasoning').click();
  await thought?.getByText('Then I look at its parcels.').waitFor();
  await called?.scrollIntoViewIfNeeded();
  await called?.getByText('Tool find_order').click();
  await called?.getByRole('group', { name: 'arguments of find_order' }).getByText('A-1001').waitFor();
  await called?.getByRole('group', { name: 'output of find_order' }).getByText('parcels').waitFor();
  await team?.scrollIntoViewIfNeeded();
  await team?.getByText('Triage handed over to Billing.').waitFor();
  await team?.getByRole('heading', { name: 'Billing', exact: true }).waitFor();
  await team?.getByText('Triage asks Research').click();
  await team?.getByText('Please do your part.').waitFor();
}

const talk: ConsoleVisit = {
  name: 'playground-talk',
  async run(visit) {
    const { page, seed } = visit;
    await openPlayground(visit);
    await page.getByRole('button', { name: 'Where is my order?' }).waitFor();
    await visit.checkPage('playground-empty');
    await page.getByText('Needed for allowances.').waitFor();
    await chooseMember(visit, seed.members[0] as string);
    await page.getByRole('button', { name: 'Where is my order?' }).click();
    await ended(visit, 1);
    await announced(visit, 'The answer is complete.');
    await answers(page)
      .getByText(/^Charge: .* tokens$/)
      .waitFor();
    await answers(page).getByText('First token').waitFor();
    await answers(page).getByRole('table').getByRole('cell', { name: 'Thursday' }).waitFor();
    await visit.checkPage('playground-answer');
    await send(visit, 'think about it');
    await ended(visit, 2);
    await answers(page).last().getByText('Reasoning').click();
    await answers(page).last().getByText('Then I look at its parcels.').waitFor();
    await toEnd(visit);
    await visit.checkPage('playground-reasoning');
    await send(visit, 'tool find_order {"order":"A-1001"}');
    await ended(visit, 3);
    await answers(page).last().getByText('Tool find_order').click();
    await answers(page).last().getByRole('group', { name: 'output of find_order' }).getByText('parcels').waitFor();
    await expectSteps(visit, ['Triage: scripted/model', 'Triage: find_order', 'Triage: scripted/model']);
    await toEnd(visit);
    await visit.checkPage('playground-tool');
    await send(visit, 'team up');
    await ended(visit, 4);
    await answers(page).last().getByText('Triage asks Research').click();
    await answers(page).last().getByText('Please do your part.').waitFor();
    await answers(page).last().getByText('Triage handed over to Billing.').waitFor();
    await answers(page).last().getByRole('heading', { name: 'Billing', exact: true }).waitFor();
    await expectSteps(visit, TEAM_STEPS);
    await toEnd(visit);
    await visit.checkPage('playground-team');
    await send(visit, 'fail please');
    await ended(visit, 5);
    await answers(page).last().getByText('The provider answered 503: overloaded.').waitFor();
    await answers(page).last().getByText('Check the key and the state of the model provider').waitFor();
    await answers(page).last().getByText('failed', { exact: true }).waitFor();
    await checkWhole(visit, 'playground-failed');
    await page.reload();
    await ended(visit, 5);
    expectEqual('answers after a reload', await answers(page).count(), 5);
    await checkKept(visit);
    await checkWhole(visit, 'playground-reloaded');
    await page.getByRole('button', { name: 'New chat' }).click();
    await page.getByRole('heading', { name: /^New chat with / }).waitFor();
  },
};

/** An integration of its own, without allowances. */
export async function newIntegration(visit: VisitContext, name: string, agency: string): Promise<string> {
  const apiIntegrationId = visit.unique(name).replaceAll(' ', '-');
  const { status } = await visit.api.post('/v2/integrations', { apiIntegrationId, agency });
  expectEqual('status of an integration', status, 201);
  return apiIntegrationId;
}

/** More than one page of 50 messages: each run has two. */
const LONG_CHAT_RUNS = 27;

async function newLongChat({ api }: VisitContext, apiIntegrationId: string): Promise<string> {
  const chatId = 'long-chat';
  for (let index = 1; index <= LONG_CHAT_RUNS; index += 1) {
    const ids = { apiIntegrationId, chatId, usageRequestId: `${apiIntegrationId}-${index}` };
    const reader = await api.complete({ ...ids, message: `say This is message ${index}.` });
    await within('end of a run', WAIT_MS, reader.over);
  }
  return chatId;
}

const earlier: ConsoleVisit = {
  name: 'playground-earlier',
  async run(visit) {
    const { page } = visit;
    const integration = await newIntegration(visit, 'long chat', 'support');
    const chat = await newLongChat(visit, integration);
    await openPlayground({ ...visit, integration }, { chat });
    await ended(visit, 25);
    expectEqual('messages of the newest page', await sentMessages(page).count(), 25);
    const load = page.getByRole('button', { name: 'Load earlier messages' });
    await load.scrollIntoViewIfNeeded();
    const first = await sentMessages(page).first().elementHandle();
    const before = await first?.boundingBox();
    await load.click();
    await sentMessages(page).getByText('This is message 1.').waitFor();
    expectAtMost('movement of what is in view', Math.abs(((await first?.boundingBox())?.y ?? 0) - (before?.y ?? 0)), 2);
    await page.getByRole('button', { name: 'Load earlier messages' }).waitFor({ state: 'hidden' });
    const numbers = Array.from({ length: LONG_CHAT_RUNS }, (_, index) => String(index + 1));
    for (const messages of [sentMessages(page), answers(page)]) {
      const texts = await messages.allInnerTexts();
      expectEqual(
        'messages in order',
        texts.map((text) => /message (\d+)/.exec(text)?.[1]),
        numbers,
      );
    }
    await toEnd(visit);
    await visit.checkPage('playground-earlier');
  },
};

const stop: ConsoleVisit = {
  name: 'playground-stop',
  async run(visit) {
    const { page, rig } = visit;
    await openPlayground(visit, { member: visit.seed.members[2] as string });
    // Many screen readers do not announce the first text of a new element.
    const emptyStatuses = await page.getByRole('status').elementHandles();
    await send(visit, 'hold on');
    await page.getByText('This takes a while.').waitFor();
    const status = page.getByRole('status').filter({ hasText: 'The agent is answering.' });
    const wasEmpty = await status.evaluate((own, all) => all.includes(own), emptyStatuses);
    expectEqual('the announcement is in an element that existed before', wasEmpty, true);
    expectAtMost('width of the announcement', (await status.boundingBox())?.width ?? 0, 1);
    await visit.checkPage('playground-running');
    // The run continues without the page, and the page finds it again.
    await page.reload();
    await page.getByText('This takes a while.').waitFor();
    await page.getByRole('button', { name: 'Stop' }).waitFor();
    await rig.model.release();
    await page.getByText('That is all.').waitFor();
    await ended(visit, 1);
    await send(visit, 'hold on again');
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('The server stopped the run.').waitFor();
    await announced(visit, 'The run ended as cancelled.');
    await ended(visit, 2);
    await visit.checkPage('playground-stopped');
  },
};

const busy: ConsoleVisit = {
  name: 'playground-busy',
  async run(visit) {
    const { page, rig, api, integration } = visit;
    const consumerId = visit.seed.members[3] as string;
    await openPlayground(visit, { member: consumerId });
    await send(visit, 'Hello');
    await ended(visit, 1);
    const chatId = new URL(page.url()).searchParams.get('chat');
    const usageRequestId = visit.unique('busy');
    // Another program talks in the same chat, while the page is not in view and does not look for it.
    await setInView(page, false);
    const body = { apiIntegrationId: integration, chatId, consumerId, usageRequestId, message: 'hold on' };
    const other = await api.complete(body);
    await within('text of another run', WAIT_MS, other.untilText('while'));
    // The client looks for a run of its own before it sends the request again.
    await visit.expectRefusal([409, 404], async () => {
      await send(visit, 'My next question');
      await page.getByRole('alert').getByText('run_active').waitFor();
    });
    await visit.checkPage('playground-busy');
    await page.getByRole('button', { name: 'Follow the active run' }).click();
    await page.getByText('This takes a while.').waitFor();
    const field = page.getByRole('textbox', { name: 'Message' });
    expectEqual('the message', await field.inputValue(), 'My next question');
    await rig.model.release();
    await page.getByText('That is all.').waitFor();
    await ended(visit, 2);
    await within('end of another run', WAIT_MS, other.over);
    // When the page is in view again, the next turn of the other program appears by itself.
    const next = await api.complete({ ...body, usageRequestId: `${usageRequestId} again`, message: 'hold once more' });
    await within('text of another run', WAIT_MS, next.untilText('while'));
    expectEqual('messages while the page is not in view', await sentMessages(page).count(), 2);
    await setInView(page, true);
    await sentMessages(page).getByText('hold once more').waitFor();
    await answers(page).nth(2).getByText('This takes a while.').waitFor();
    await page.getByRole('button', { name: 'Stop' }).waitFor();
    await rig.model.release();
    await ended(visit, 3);
    await within('end of another run', WAIT_MS, next.over);
    expectEqual('the message', await field.inputValue(), 'My next question');
  },
};

/** A headless browser has all pages in view. */
async function setInView(page: Page, isInView: boolean): Promise<void> {
  const set = `Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true })`;
  await page.evaluate(isInView ? 'delete document.visibilityState' : set);
  await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
}

const failedTool: ConsoleVisit = {
  name: 'playground-failed-tool',
  async run(visit) {
    const { page, seed } = visit;
    await openPlayground(visit, { chat: seed.chats.brokenTool });
    await ended(visit, 2);
    const call = answers(page).last().getByRole('group').filter({ hasText: 'list_parcels' });
    await call.getByText('failed', { exact: true }).waitFor();
    await visit.checkPage('playground-failed-tool');
  },
};

const refusals: ConsoleVisit = {
  name: 'playground-refusals',
  async run(visit) {
    const { page, seed } = visit;
    const stranger = visit.unique('new-member').replaceAll(' ', '-');
    await openPlayground(visit);
    await visit.expectRefusal(400, async () => {
      await send(visit, 'Hello');
      await page.getByRole('alert').getByText('Choose a member, then send the message again.').waitFor();
    });
    await openPlayground(visit, { member: stranger });
    await visit.expectRefusal(404, async () => {
      await send(visit, 'Hello');
      await page.getByRole('alert').getByText('member_not_found').waitFor();
    });
    await visit.checkPage('playground-unknown-member');
    const register = page.getByRole('button', { name: 'Register the member and send again' });
    const body = JSON.stringify({ error: 'No more members are accepted.', code: 'invalid_request' });
    await page.route(`**/members/${stranger}`, (route) => route.fulfill({ status: 400, body }), { times: 1 });
    await visit.expectRefusal(400, async () => {
      await register.click();
      await page.getByRole('alert').getByText('No more members are accepted.').waitFor();
    });
    await register.dblclick();
    await ended(visit, 1);
    expectEqual('messages of a registered member', await sentMessages(page).count(), 1);
    // Every seventh member is not active.
    await openPlayground(visit, { member: seed.members[6] as string });
    await visit.expectRefusal(429, async () => {
      await send(visit, 'Hello');
      await page.getByRole('alert').getByText('consumer_inactive').waitFor();
    });
    await visit.checkPage('playground-inactive-member');
    const field = page.getByRole('textbox', { name: 'Message' });
    await field.fill('Something else');
    await page.getByRole('button', { name: 'Edit the message' }).click();
    await page.getByRole('alert').getByText('The field below has a message already.').waitFor();
    expectEqual('messages that are kept', await sentMessages(page).getByText('Hello').count(), 1);
    await field.fill('');
    await page.getByRole('button', { name: 'Edit the message' }).click();
    expectEqual('the message', await field.inputValue(), 'Hello');
    expectEqual('messages that were taken back', await sentMessages(page).count(), 0);
    await visit.expectRefusal(404, async () => {
      await visit.open(getAddress('no-such-integration'));
      await page.getByRole('alert').getByText('integration_not_found').first().waitFor();
    });
    await visit.checkPage('playground-unknown-integration');
  },
};

/** Until it is called back, a proxy answers for the server, and the console does not find it. */
async function answerForServer(page: Page, address: string): Promise<() => Promise<void>> {
  const addresses = [address, '**/healthz'];
  for (const one of addresses) await page.route(one, (route) => route.fulfill({ status: 502, body: 'Bad gateway' }));
  return async () => {
    for (const one of addresses) await page.unroute(one);
  };
}

/** Until it is called back, the page's token is refused, and it cannot get another one. */
async function withoutToken(page: Page): Promise<() => Promise<void>> {
  const back = await answerForServer(page, '**/token');
  const body = JSON.stringify({ error: 'The token has ended.', code: 'invalid_api_key' });
  await page.route('**/get_completion_v2', (route) => route.fulfill({ status: 401, body }));
  return async () => {
    await page.unroute('**/get_completion_v2');
    await back();
  };
}

const LOST = 'The message did not reach the server.';

const outage: ConsoleVisit = {
  name: 'playground-outage',
  async run(visit) {
    const { page } = visit;
    await openPlayground(visit, { member: visit.seed.members[7] as string });
    // A chat's first message, then one in a chat that exists.
    for (const [index, text] of ['Sent in an outage', 'Sent in another outage'].entries()) {
      await visit.expectRefusal(401, () =>
        visit.expectRefusal('outage', async () => {
          const stop = await withoutToken(page);
          await send(visit, text);
          await page.getByText('The server does not answer.').waitFor();
          await stop();
          // A new chat is not known to the server.
          const seeLoss = () => answers(page).getByText(LOST).waitFor();
          await (index === 0 ? visit.expectRefusal(404, seeLoss) : seeLoss());
        }),
      );
      await sentMessages(page).getByText(text).waitFor();
      if (index === 0) await visit.checkPage('playground-outage');
      await page.getByRole('button', { name: 'Send again' }).click();
      await ended(visit, index + 1);
    }
    expectEqual('messages after outages', await sentMessages(page).count(), 2);
    // A proxy answers for the server while the chat is read.
    await visit.expectRefusal('outage', async () => {
      const away = await answerForServer(page, '**/chats/**');
      await page.reload();
      await page.getByText('Waiting for the server…').waitFor();
      expectEqual('buttons that send', await page.getByRole('button', { name: 'Send' }).isEnabled(), false);
      await away();
      await ended(visit, 2);
    });
    expectEqual('messages after a reload', await sentMessages(page).count(), 2);
  },
};

const again: ConsoleVisit = {
  name: 'playground-again',
  async run(visit) {
    const { page, seed } = visit;
    await openPlayground(visit, { run: seed.runs.failed });
    const field = page.getByRole('textbox', { name: 'Message' });
    await field.and(page.locator(':focus')).waitFor();
    expectEqual('the message', await field.inputValue(), 'fail please');
    await visit.checkPage('playground-again');
    expectEqual('answers before it is sent', await answers(page).count(), 0);
  },
};

export const playgroundVisits: readonly ConsoleVisit[] = [
  talk,
  earlier,
  stop,
  busy,
  failedTool,
  refusals,
  outage,
  again,
];
