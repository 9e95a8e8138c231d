import { expectEqual, until, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import type { Locator, Page } from 'playwright-core';
import type { ConsoleVisit, VisitContext } from '../visit.ts';
import { copied } from './copied.ts';
import { shown } from './table-cell.ts';

const alert = (page: Page, text: string | RegExp) => page.getByRole('alert').filter({ hasText: text }).waitFor();
const steps = (page: Page) => page.getByRole('region', { name: 'Steps' });
const row = (page: Page, name: RegExp) => steps(page).getByRole('button', { name });
const details = (page: Page) => page.getByRole('region', { name: 'Details' });
const openRun = (visit: VisitContext, run: string, search = '') =>
  visit.open(`integrations/${visit.integration}/runs/${run}${search}`);

/** Beside the texts of a row, at every width. */
const END_OF_ROW = { x: 300, y: 40 };

async function expectTexts(what: string, found: Locator, texts: readonly string[]): Promise<void> {
  await until(what, async () => JSON.stringify(await found.allTextContents()) === JSON.stringify(texts));
}

/** A run that waits until the model is released. */
async function heldRun({ api, integration, seed, unique }: VisitContext, name: string): Promise<string> {
  const usageRequestId = unique(name);
  const ids = { apiIntegrationId: integration, consumerId: seed.members[2], usageRequestId };
  const reader = await api.complete({ ...ids, message: 'hold on' });
  await within('text of the run', WAIT_MS, reader.untilText('while'));
  return String(reader.headers['x-run-id']);
}

interface Tokens {
  readonly request_count: number;
  readonly input_tokens: number;
  readonly cached_tokens: number;
  readonly output_tokens: number;
  readonly total_tokens: number;
}

/** The sentence about tokens, from what the API has. */
function tokenSentence(usage: Tokens): string {
  const { request_count: calls, input_tokens: input, cached_tokens: cached, output_tokens: output } = usage;
  const inputs = `${shown(input)} input${cached > 0 ? ` (${shown(cached)} cached)` : ''}`;
  const of = `in ${calls} model call${calls === 1 ? '' : 's'}`;
  return `${shown(usage.total_tokens)}: ${inputs}, ${shown(output)} output, ${of}`;
}

const fact = (page: Page, text: string) =>
  details(page).getByRole('definition').getByText(text, { exact: true }).waitFor();

/** Tokens and charge of the run that is open are what the API has. */
async function checkFigures({ page, api, integration }: VisitContext, runId: string): Promise<void> {
  const { body: run } = await api.get(`/v2/integrations/${integration}/runs/${runId}`);
  await fact(page, tokenSentence(run.usage));
  const query = new URLSearchParams({ usageRequestId: run.usageRequestId });
  const { body: usage } = await api.get(`/v2/integrations/${integration}/usage?${query}`);
  const [{ charged }] = usage.items;
  await fact(page, `${shown(charged.amount)} ${charged.unit}`);
}

/** The chosen event is shown with indented data, and copied as the server sends it. */
async function checkEvent({ page, api, integration }: VisitContext, runId: string): Promise<void> {
  const region = page.getByRole('region', { name: /^event \d+$/ });
  const label = (await region.getAttribute('aria-label')) ?? '';
  const address = `${api.url}/v2/integrations/${integration}/runs/${runId}/events`;
  const stream = await (await fetch(address, { headers: api.authorization })).text();
  const frame = stream.split(/(?<=\n\n)/).find((one) => one.startsWith(`id: ${label.slice('event '.length)}\n`));
  const copy = await copied(page, label);
  expectEqual(`the copied ${label}`, copy, frame);
  const [, head = '', data = ''] = /^([\s\S]*?\n)?data: (.*)\n\n$/.exec(copy) ?? [];
  const readable = `${head}data: ${JSON.stringify(JSON.parse(data), null, 2)}`;
  expectEqual(`the shown ${label}`, ((await region.textContent()) ?? '').trimEnd(), readable);
}

export const runVisits: readonly ConsoleVisit[] = [
  {
    name: 'runs',
    async run(visit) {
      const { page, integration, seed } = visit;
      const rows = page.getByRole('row').filter({ has: page.getByRole('link') });
      await visit.open(`integrations/${integration}/runs`);
      await rows.first().waitFor();
      await visit.checkPage('runs');
      const search = page.getByRole('combobox', { name: 'Search' });
      const options = page.getByRole('listbox', { name: 'Suggestions' }).getByRole('option');
      // A name, then a value, from the suggestions.
      await search.pressSequentially('sta');
      await expectTexts('names of filters', options, ['status:state of the run']);
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await search.pressSequentially('fai');
      await expectTexts('values of a filter', options, ['failed']);
      await visit.checkPage('runs-suggestions');
      await page.keyboard.press('Enter');
      await page.getByRole('row').filter({ hasText: 'completed' }).first().waitFor({ state: 'hidden' });
      expectEqual('status in the address', new URL(page.url()).search, '?status=failed');
      const failed = rows.filter({ has: page.getByRole('link', { name: 'fail please' }) }).first();
      await failed.getByText('The provider answered 503: overloaded.', { exact: true }).waitFor();
      await visit.checkPage('runs-failed');
      await search.fill('agent:billing ');
      await page.getByRole('heading', { name: 'No run matches the filters' }).waitFor();
      expectEqual('agent in the address', new URL(page.url()).searchParams.get('agent'), 'Billing');
      await visit.checkPage('runs-not-found');
      await page.getByRole('button', { name: 'Clear filters' }).click();
      await rows.first().waitFor();
      // Typed as a whole, with words that only one run has.
      await search.fill(`chat:${seed.chats.asking} "REFUND"`);
      await search.press('Enter');
      await page.getByText('1 run', { exact: true }).waitFor();
      await rows.getByText('waiting', { exact: true }).waitFor();
      expectEqual('words in the address', new URL(page.url()).searchParams.get('q'), '"REFUND"');
      await page.reload();
      await page.getByText('1 run', { exact: true }).waitFor();
      await page.getByRole('button', { name: `Remove chat:${seed.chats.asking}` }).click();
      await search.fill('');
      // The member is found by the name, and its chip shows the name.
      await search.pressSequentially('member:bao');
      await expectTexts('members', options, ['Bao Nguyenuser-02']);
      await page.keyboard.press('Enter');
      await rows.filter({ hasText: 'Ada Lindqvist' }).first().waitFor({ state: 'hidden' });
      expectEqual('member in the address', new URL(page.url()).search, '?member=user-02');
      await page.getByRole('list', { name: 'Filters' }).getByText('Bao Nguyen').waitFor();
      await search.press('Backspace');
      await rows.filter({ hasText: 'Ada Lindqvist' }).first().waitFor();
      const time = page.getByLabel('Time', { exact: true });
      await time.selectOption('Last 24 hours');
      await page.getByText(/^\d+ runs$/).waitFor();
      expectEqual('time in the address', new URL(page.url()).search, '?last=24h');
      await time.selectOption('Own range…');
      await page.getByLabel('To', { exact: true }).fill('2020-01-01T00:00');
      await page.getByRole('heading', { name: 'No run matches the filters' }).waitFor();
      await page.getByLabel('To', { exact: true }).fill('0002-01-01T00:00');
      await search.focus();
      expectEqual('a year in part', await page.getByLabel('To', { exact: true }).inputValue(), '2020-01-01T00:00');
      await time.selectOption('Any time');
      await rows.first().waitFor();
      await visit.open(`integrations/${seed.otherIntegration}/runs`);
      await page.getByRole('heading', { name: 'No runs yet' }).waitFor();
      await visit.checkPage('runs-empty');
      await visit.expectRefusal(400, async () => {
        await visit.open(`integrations/${integration}/runs?status=strange`);
        await alert(page, 'status');
      });
      await visit.checkPage('runs-wrong-filter');
    },
  },
  {
    name: 'runs-at-the-side',
    async run(visit) {
      const { page, integration, width } = visit;
      const rows = page.getByRole('row').filter({ has: page.getByRole('link') });
      const side = page.getByRole('region', { name: 'Side panel' });
      await visit.open(`integrations/${integration}/runs?status=failed`);
      await rows.first().waitFor();
      // The whole row is the link, and the only stop of the key Tab.
      expectEqual('controls of a row', await rows.first().locator('a, button, input').count(), 1);
      const href = String(await rows.first().getByRole('link').getAttribute('href'));
      const tab = page.context().waitForEvent('page');
      await rows.first().click({ modifiers: ['Control'], position: END_OF_ROW });
      // It stays open: requests of a page that is closed do not end.
      const opened = await tab;
      await opened.getByRole('tab', { name: 'Run' }).waitFor();
      expectEqual('address of the new tab', new URL(opened.url()).pathname, new URL(href, page.url()).pathname);
      if (width < 1280) {
        await visit.open(`integrations/${integration}/runs?peek=${href.split('/').at(-1)}`);
        await rows.first().waitFor();
        expectEqual('sides on a narrow screen', await side.count(), 0);
        await rows.first().click({ position: END_OF_ROW });
        await page.getByRole('tab', { name: 'Run' }).waitFor();
        return;
      }
      await page.getByRole('button', { name: 'Side panel' }).click();
      await side.getByText('The provider answered 503: overloaded.').waitFor();
      await side.getByText('fail please').waitFor();
      await side.getByRole('listitem').filter({ hasText: 'Model' }).getByText('failed', { exact: true }).waitFor();
      await visit.checkPage('runs-side');
      const peeked = () => new URL(page.url()).searchParams.get('peek');
      await page.getByRole('combobox', { name: 'Search' }).fill('');
      await page.getByRole('button', { name: 'Remove status:failed' }).click();
      await page.getByText(/^\d+ runs/).waitFor();
      await page.getByRole('heading', { level: 1 }).click();
      // The shown run may not be the first one now.
      for (let first = String(await rows.first().getByRole('link').getAttribute('href')); ; ) {
        if (first.endsWith(`/${peeked()}`)) break;
        const before = peeked();
        await page.keyboard.press('k');
        await until('another run at the side', async () => peeked() !== before);
      }
      const addresses = await rows.getByRole('link').evaluateAll((links) => links.map((link) => String(link)));
      for (const address of addresses.slice(1, 4)) {
        await page.keyboard.press('j');
        await until('the next run at the side', async () => address.endsWith(`/${peeked()}`));
        await side
          .getByRole('link', { name: 'Open the run' })
          .and(page.locator(`[href$="${peeked()}"]`))
          .waitFor();
      }
      await page.keyboard.press('k');
      await until('the run before', async () => addresses[2]?.endsWith(`/${peeked()}`) === true);
      await page.reload();
      await side
        .getByRole('link', { name: 'Open the run' })
        .and(page.locator(`[href$="${peeked()}"]`))
        .waitFor();
      // A click shows another run; Escape closes the side.
      await rows.first().click({ position: END_OF_ROW });
      await until('the clicked run', async () => addresses[0]?.endsWith(`/${peeked()}`) === true);
      await page.keyboard.press('Escape');
      await side.waitFor({ state: 'hidden' });
      expectEqual('side in the address', peeked(), null);
      await page.keyboard.press('j');
      await side.waitFor();
      await page.keyboard.press('Enter');
      await page.getByRole('tab', { name: 'Run' }).waitFor();
      expectEqual('opened run', page.url(), addresses[0]);
    },
  },
  {
    name: 'runs-of-a-slow-network',
    async run(visit) {
      const { page, rig, integration } = visit;
      await heldRun(visit, 'polled');
      let reads = 0;
      await page.route(/\/runs\?/, async (route) => {
        reads += 1;
        const body = await (await route.fetch()).json();
        const contentType = 'application/json';
        await route.fulfill({ contentType, body: JSON.stringify({ ...body, padding: 'x'.repeat(60_000) }) });
      });
      await visit.open(`integrations/${integration}/runs`);
      await page.getByRole('row').getByText('running', { exact: true }).first().waitFor();
      // A list with an active run is read every 2 s, but 60 kB only every 12 s, so that it takes at most 5 kB/s.
      const before = reads;
      await page.waitForTimeout(7000);
      expectEqual('reads of the first 7 s are at most', Math.max(1, reads - before), 1);
      await rig.model.release();
    },
  },
  {
    name: 'run-of-a-team',
    async run(visit) {
      const { page, api, integration, seed } = visit;
      await openRun(visit, seed.runs.team);
      await details(page).getByText('team up and find out about my order').waitFor();
      await checkFigures(visit, seed.runs.team);
      await visit.checkPage('run');
      const delegation = steps(page).getByRole('button', { name: /send_message/ });
      const [, duration = ''] = /([\d.]+ (?:ms|s))$/.exec((await delegation.textContent()) ?? '') ?? [];
      await delegation.click();
      await details(page).getByRole('definition').getByText(duration, { exact: true }).waitFor();
      await details(page).getByRole('region', { name: 'input' }).getByText('Please do your part.').waitFor();
      await visit.checkPage('run-step-tool');
      await steps(page)
        .getByRole('button', { name: /Model Research/ })
        .click();
      await details(page).getByText('Research, asked by Triage').waitFor();
      const { body } = await api.get(`/v2/integrations/${integration}/runs/${seed.runs.team}/steps`);
      const asked = (body.items as readonly { agent: string; usage: Tokens | null }[]).find(
        ({ agent, usage }) => agent === 'Research' && usage !== null,
      );
      await fact(page, tokenSentence(asked?.usage as Tokens));
      await visit.checkPage('run-step-model');
      await page.getByRole('tab', { name: 'Prompt' }).click();
      await details(page).getByText('Please do your part.').waitFor();
      await visit.checkPage('run-step-prompt');
      await steps(page).getByRole('button', { name: 'Zoom in' }).click();
      await steps(page).getByRole('button', { name: 'Zoom out' }).click();
      await page.getByRole('tab', { name: /^Step/ }).click();
      await steps(page).getByLabel('Kind').selectOption('Tool');
      await steps(page).getByRole('button', { name: /Model/ }).first().waitFor({ state: 'hidden' });
      await steps(page).getByLabel('Failed only').check();
      await steps(page).getByText('No step matches the filters').waitFor();
      await visit.checkPage('run-no-step-matches');
      await page.reload();
      await steps(page).getByText('No step matches the filters').waitFor();
      await details(page).getByRole('button', { name: 'Show the whole run' }).click();
      await details(page).getByRole('heading', { name: 'Whole run' }).waitFor();
      const again = await page.getByRole('link', { name: 'Try again in the playground' }).getAttribute('href');
      expectEqual('run for the playground', new URL(again ?? '', page.url()).searchParams.get('run'), seed.runs.team);
    },
  },
  {
    name: 'run-events',
    async run(visit) {
      const { page, api, integration, seed } = visit;
      await openRun(visit, seed.runs.tool);
      await page.getByRole('tab', { name: 'Events' }).click();
      const events = page.getByRole('listbox', { name: 'Events' });
      await events.getByRole('option').first().waitFor();
      await visit.checkPage('run-events');
      await page.getByLabel('Events that contain').fill('find_order');
      await details(page)
        .getByText(/^\d+ of \d+ events$/)
        .waitFor();
      await events.focus();
      await page.keyboard.press('End');
      await page.getByRole('region', { name: /^event \d+$/ }).waitFor();
      await page.keyboard.press('Home');
      const first = await events.getByRole('option', { selected: true }).textContent();
      // The chosen event stays the start of the way when the filter is removed.
      await page.getByLabel('Events that contain').fill('');
      await details(page)
        .getByText(/^\d+ events$/)
        .waitFor();
      await events.focus();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('ArrowUp');
      expectEqual('event', await events.getByRole('option', { selected: true }).textContent(), first);
      await visit.checkPage('run-event');
      await checkEvent(visit, seed.runs.tool);
      await events.focus();
      await page.keyboard.press('Home');
      await checkEvent(visit, seed.runs.tool);
      await page.getByRole('tab', { name: 'JSON' }).click();
      await page.getByRole('region', { name: 'run as JSON' }).getByText(seed.runs.tool).waitFor();
      await visit.checkPage('run-json');
      const { body } = await api.get(`/v2/integrations/${integration}/runs/${seed.runs.tool}`);
      expectEqual('the copied run', JSON.parse(await copied(page, 'run as JSON')), body);
    },
  },
  {
    name: 'run-compacted',
    async run(visit) {
      const { page, api, integration } = visit;
      // The seeded runs of nine days ago were compacted when the server was started.
      const { body } = await api.get(`/v2/integrations/${integration}/runs?chatId=past-9-0`);
      await openRun(visit, body.items[0].runId, '?tab=events');
      await details(page).getByText('The events were compacted.').waitFor();
      await visit.checkPage('run-events-compacted');
      await steps(page).getByRole('button', { name: /Model/ }).click();
      await page.getByRole('tab', { name: 'Step 1' }).click();
      await page.getByRole('region', { name: 'output' }).getByText('Your order **A-1001** is on its way.').waitFor();
    },
  },
  {
    name: 'run-ends',
    async run(visit) {
      const { page, seed } = visit;
      await openRun(visit, seed.runs.failed);
      await details(page).getByText('The provider answered 503: overloaded.').waitFor();
      await details(page).getByText('Check the key and the state of the model provider').waitFor();
      await row(page, /^Model Triage ?failed/).waitFor();
      await visit.checkPage('run-failed');
      await openRun(visit, seed.runs.cancelled);
      await row(page, /^Model Triage ?cancelled/).waitFor();
      await visit.checkPage('run-cancelled');
      await openRun(visit, seed.runs.brokenTool);
      await steps(page).getByLabel('Failed only').check();
      await steps(page)
        .getByRole('button', { name: /list_parcels/ })
        .click();
      await details(page).getByText('The warehouse does not answer.').first().waitFor();
      await visit.checkPage('run-step-failed');
      await openRun(visit, seed.runs.asking);
      await details(page).getByText('A call waits for an answer.').waitFor();
      await row(page, /^refund Billing ?waiting/).waitFor();
      await visit.checkPage('run-asking');
    },
  },
  {
    name: 'run-active',
    async run(visit) {
      const { page } = visit;
      await openRun(visit, await heldRun(visit, 'cancelled'));
      const current = steps(page)
        .getByRole('listitem')
        .filter({ hasText: /^Model Triage/ });
      await current.getByText('running', { exact: true }).waitFor();
      await current.getByText(/^\d+(\.\d)? s$/).waitFor();
      // The text appears while it is written.
      await details(page).getByText('I am looking it up. This takes a while.').waitFor();
      await visit.checkPage('run-active');
      await page.getByRole('button', { name: 'Cancel the run' }).click();
      await visit.checkPage('run-cancel');
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel the run' }).click();
      await page.getByRole('dialog').getByText('The server stopped the run.').waitFor();
      await visit.checkPage('run-cancel-answer');
      await page.getByRole('button', { name: 'Close' }).click();
      await row(page, /^Whole run ?cancelled/).waitFor();
      await steps(page).getByText('running', { exact: true }).waitFor({ state: 'hidden' });
    },
  },
  {
    name: 'run-ended-before-cancel',
    async run(visit) {
      const { page, rig, seed } = visit;
      await openRun(visit, await heldRun(visit, 'ended'), '?tab=events');
      const events = page.getByRole('listbox', { name: 'Events' });
      await events.getByRole('option').first().waitFor();
      // The page stops to follow the events when it is left, and reads them again when it is opened again.
      await page.getByRole('tab', { name: 'Run' }).click();
      await details(page)
        .getByRole('link', { name: seed.names[2] ?? '' })
        .click();
      await steps(page).waitFor({ state: 'hidden' });
      await page.goBack();
      await page.getByRole('tab', { name: 'Events' }).click();
      await events.getByRole('option').first().waitFor();
      await page.getByRole('button', { name: 'Cancel the run' }).click();
      await page.getByLabel('When').selectOption('After the current step');
      await rig.model.release();
      await page.getByRole('tab', { name: 'Run', includeHidden: true }).waitFor();
      await steps(page).getByText('completed', { exact: true }).waitFor();
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel the run' }).click();
      await page.getByText('The run had completed before it could be stopped.').waitFor();
      await visit.checkPage('run-cancel-too-late');
    },
  },
  {
    name: 'run-errors',
    async run(visit) {
      const { page, api, integration, seed } = visit;
      await visit.expectRefusal(404, async () => {
        await openRun(visit, 'run_unknown');
        await alert(page, 'run_not_found');
      });
      await visit.checkPage('run-unknown');
      const chatId = visit.unique('gone').replaceAll(' ', '-');
      const ids = { apiIntegrationId: integration, consumerId: seed.members[0], usageRequestId: chatId };
      const reader = await api.complete({ ...ids, chatId, message: 'Where is my order?' });
      await within('end of a run', WAIT_MS, reader.over);
      await api.delete(`/v2/integrations/${integration}/chats/${chatId}`);
      await openRun(visit, String(reader.headers['x-run-id']));
      await details(page).getByText('The chat of this run was deleted.').waitFor();
      await visit.checkPage('run-of-deleted-chat');
      await page.getByRole('tab', { name: 'Events' }).click();
      await details(page).getByText('and the events with it').waitFor();
      await visit.checkPage('run-events-deleted');
    },
  },
];
