import { type ErrorCode, errors } from '@runwire/contract';
import { expectEqual, until } from '@runwire/test-kit/shortfall.ts';
import type { Page } from 'playwright-core';
import { setUp } from '../sign-in-pages.ts';
import { alert } from '../steps.ts';
import type { ConsoleVisit, VisitContext } from '../visit.ts';
import { copied } from './copied.ts';

const steps = (page: Page) => page.getByRole('region', { name: 'Steps' });
const details = (page: Page) => page.getByRole('region', { name: 'Details' });
const dialog = (page: Page) => page.getByRole('dialog', { name: /^Run again/ });
const openRun = (visit: VisitContext, run: string, search = '') =>
  visit.open(`integrations/${visit.integration}/runs/${run}${search}`);
const openComparison = (visit: VisitContext, left: string, right: string) =>
  openRun(visit, left, `/compare?with=${right}`);

/** The run whose page is open. */
const getRunId = (page: Page) => new URL(page.url()).pathname.split('/').at(-1) ?? '';

/** Sends the dialog, and waits for the page of the rerun. Resolves to its id. */
async function startRerun(page: Page, original: string): Promise<string> {
  await dialog(page).getByRole('button', { name: 'Run again' }).click();
  await page.waitForURL((url) => /\/runs\/[^/]+$/.test(url.pathname) && !url.pathname.endsWith(original));
  return getRunId(page);
}

const getRun = async ({ api, integration }: VisitContext, runId: string) =>
  (await api.get(`/v2/integrations/${integration}/runs/${runId}`)).body;

/** A rerun of the run by the API that has ended. Resolves to its id. */
async function rerun({ api, integration }: VisitContext, of: string, body: object): Promise<string> {
  const reader = await api.rerun(integration, of, body);
  expectEqual('status of a rerun', reader.status, 200);
  await reader.over;
  return String(reader.headers['x-run-id']);
}

/** The pair of steps whose row has this text. */
const pair = (page: Page, text: string | RegExp) =>
  page.getByRole('region', { name: 'Steps' }).getByRole('listitem').filter({ hasText: text });

const marked = (page: Page, role: 'deletion' | 'insertion') => page.getByRole(role).allTextContents();

/** What the page shows if the server refuses a rerun. */
const REFUSED: readonly { readonly code: ErrorCode; readonly sentence: string }[] = [
  { code: 'run_active', sentence: 'The run has not ended; wait for its end, or cancel it.' },
  {
    code: 'attachment_unavailable',
    sentence: 'The server keeps no copy of `plan.pdf`, an attachment of the run; send the message again instead.',
  },
];
/** For how long the client repeats a request. */
const GIVE_UP_MS = 120_000;
/** That of reruns: runs fail with the second code too, without a status. */
const STATUS: Readonly<Record<string, number>> = { attachment_unavailable: 400 };

export const rerunVisits: readonly ConsoleVisit[] = [
  {
    name: 'rerun-from-a-step',
    async run(visit) {
      const { page, seed } = visit;
      await openRun(visit, seed.runs.tool);
      await steps(page)
        .getByRole('button', { name: /^Model/ })
        .last()
        .click();
      await page.getByRole('tab', { name: 'Step 3' }).waitFor();
      // Nothing is left to do after the last step.
      expectEqual(
        'buttons of the last step',
        await page.getByRole('button', { name: 'Run again from here' }).count(),
        0,
      );
      await steps(page)
        .getByRole('button', { name: /find_order/ })
        .click();
      await page.getByRole('button', { name: 'Run again from here' }).click();
      await dialog(page).getByText('The steps up to 2 stay as they were').waitFor();
      expectEqual('fields for a message', await dialog(page).getByLabel('Message').count(), 0);
      await dialog(page).getByLabel('Tools').selectOption('Live: tools are called again');
      await dialog(page).getByText('What the tools do happens once more').waitFor();
      await dialog(page).getByRole('button', { name: 'Begin with its own instructions' }).click();
      const instructions = await dialog(page).getByLabel('Instructions').inputValue();
      expectEqual('the instructions end', instructions.endsWith('You find out what the user needs.'), true);
      await visit.checkPage('rerun-from-a-step');
      await dialog(page).getByLabel('Tools').selectOption('Recorded: calls get their earlier outcomes');
      await dialog(page).getByLabel('Instructions').fill('Be short.');
      await dialog(page).getByLabel('user_context').fill('{"plan"');
      await dialog(page).getByRole('button', { name: 'Run again' }).click();
      await alert(page, 'is no valid JSON');
      await dialog(page).getByLabel('user_context').fill('{"plan":"pro"}');
      const request = page.waitForRequest('**/rerun');
      const id = await startRerun(page, seed.runs.tool);
      const body = (await request).postDataJSON();
      expectEqual(
        'the request',
        [body.afterStep, body.instructions, body.user_context, body.tools, body.keep],
        [2, 'Be short.', { plan: 'pro' }, 'recorded', false],
      );
      expectEqual('the original run', (await getRun(visit, id)).rerunOf, { runId: seed.runs.tool, afterStep: 2 });
      await steps(page).getByText('completed', { exact: true }).waitFor();
      await page.getByRole('main').getByText('rerun', { exact: true }).waitFor();
      await until('kept steps', async () => (await steps(page).getByText('kept', { exact: true }).count()) === 2);
      await details(page).getByText('none, because it is a rerun').waitFor();
      await visit.checkPage('rerun');
      await steps(page)
        .getByRole('button', { name: /find_order/ })
        .click();
      await details(page).getByText('The rerun has this step from').waitFor();
      await visit.checkPage('rerun-kept-step');
      await details(page).getByRole('link', { name: 'the original run' }).click();
      await page.waitForURL((url) => url.pathname.endsWith(seed.runs.tool));
      await details(page).getByRole('button', { name: 'Show the whole run' }).click();
      const list = details(page).getByRole('region', { name: 'Reruns' });
      await list.getByRole('link', { name: 'After step 2' }).first().waitFor();
      await visit.checkPage('run-with-reruns');
      await list.getByRole('link', { name: 'Compare' }).first().click();
      await page.getByRole('heading', { level: 1, name: 'Compare two runs' }).waitFor();
    },
  },
  {
    name: 'rerun-streams',
    async run(visit) {
      const { page, rig, seed } = visit;
      await openRun(visit, seed.runs.cancelled);
      await page.getByRole('button', { name: 'Run again' }).click();
      expectEqual('the message', await dialog(page).getByLabel('Message').inputValue(), 'hold on');
      await visit.checkPage('rerun-dialog');
      const id = await startRerun(page, seed.runs.cancelled);
      // The page shows the text while it is written.
      await details(page).getByText('I am looking it up. This takes a while.').waitFor();
      expectEqual('the status', (await getRun(visit, id)).status, 'running');
      await rig.model.release();
      await steps(page).getByText('completed', { exact: true }).waitFor();
    },
  },
  {
    name: 'compare-runs',
    async run(visit) {
      const { page, integration, seed } = visit;
      const id = await rerun(visit, seed.runs.tool, { message: 'tool find_order {"order":"second"}' });
      await openComparison(visit, seed.runs.tool, id);
      await page.getByRole('region', { name: 'Rerun' }).getByText('completed', { exact: true }).waitFor();
      await until('marked words', async () => (await marked(page, 'insertion')).includes('second'));
      expectEqual('words that only the original has', (await marked(page, 'deletion')).includes('A-1001'), true);
      const { usage } = await getRun(visit, id);
      await page
        .getByRole('row', { name: /^Tokens/ })
        .getByRole('cell', { name: usage.total_tokens.toLocaleString('en-GB'), exact: true })
        .first()
        .waitFor();
      const call = pair(page, 'find_order');
      await call.getByText('changed', { exact: true }).waitFor();
      await call.locator('summary').click();
      await call.getByRole('heading', { name: 'Arguments' }).waitFor();
      await visit.checkPage('compare');
      await call.getByRole('button', { name: 'Run again from here' }).first().click();
      await dialog(page).getByText('The steps up to 2 stay as they were').waitFor();
      await dialog(page).getByRole('button', { name: 'Cancel' }).click();
      await page.getByRole('region', { name: 'Original' }).getByRole('button', { name: 'Keep as an eval' }).click();
      await visit.checkPage('compare-eval');
      expectEqual(
        'the command',
        await copied(page, 'command'),
        `runwire evals record ${seed.runs.tool} --integration ${integration}`,
      );
      await page.getByRole('button', { name: 'Close' }).click();
      // A rerun without changes has the same calls.
      await openComparison(visit, seed.runs.tool, await rerun(visit, seed.runs.tool, { afterStep: 2 }));
      await pair(page, 'find_order').getByText('equal', { exact: true }).waitFor();
      await page.getByText('3 steps.', { exact: true }).waitFor();
      await page.getByLabel('Only differences').check();
      await page.getByText('0 of 3 steps.').waitFor();
      await page.reload();
      await page.getByText('0 of 3 steps.').waitFor();
      await visit.checkPage('compare-equal');
    },
  },
  {
    name: 'compare-chosen-runs',
    async run(visit) {
      const { page, integration, seed } = visit;
      const rows = page.getByRole('row').filter({ has: page.getByRole('link') });
      await visit.open(`integrations/${integration}/runs?chat=${seed.chats.tool}`);
      await rows.nth(1).waitFor();
      await page.getByRole('button', { name: 'Compare two runs' }).click();
      await page.getByText('Choose the first run in the list.').waitFor();
      await rows.nth(0).getByRole('link').click();
      await page.getByText('Choose the run to compare it with.').waitFor();
      await rows.nth(0).getByText('First run:').waitFor();
      await visit.checkPage('compare-choose');
      await rows.nth(1).getByRole('link').click();
      await page.getByRole('region', { name: 'Second run' }).waitFor();
      const first = page.getByRole('region', { name: 'First run' }).getByRole('link', { name: 'Open the run' });
      expectEqual('the first run', (await first.getAttribute('href'))?.endsWith(seed.runs.tool), true);
      await visit.checkPage('compare-chosen');
      await first.click();
      await page.getByRole('button', { name: 'Compare' }).click();
      await page.getByRole('menuitem', { name: 'With the run before in the chat' }).waitFor();
      await visit.checkPage('compare-menu');
      await page.getByRole('menuitem', { name: 'With another run…' }).click();
      await page.getByText('Choose the run to compare it with.').waitFor();
      await page.getByRole('button', { name: 'Do not compare' }).click();
      await page.getByRole('button', { name: 'Compare two runs' }).waitFor();
    },
  },
  {
    name: 'rerun-refused',
    async run(visit) {
      const { page, seed } = visit;
      await openRun(visit, seed.runs.completed);
      await page.getByRole('button', { name: 'Run again' }).click();
      const send = () => dialog(page).getByRole('button', { name: 'Run again' }).click();
      for (const { code, sentence } of REFUSED) {
        const status = STATUS[code] ?? errors[code].status ?? 0;
        await page.route('**/rerun', (route) =>
          route.fulfill({ status, json: { error: sentence, code }, headers: { 'X-Agent-Run-Admitted': 'false' } }),
        );
        // The client repeats a request that can succeed soon, and looks for a run of its own before it sends it again.
        const isRepeated = errors[code].retryable;
        if (isRepeated) await page.clock.install();
        await visit.expectRefusal(isRepeated ? [status, 404] : status, async () => {
          const refused = page.waitForResponse('**/rerun');
          await send();
          await refused;
          if (isRepeated) await page.clock.fastForward(GIVE_UP_MS);
          await alert(page, sentence.replaceAll('`', ''));
        });
        await page.unrouteAll({ behavior: 'wait' });
        await visit.checkPage(`rerun-refused-${code}`);
      }
      await dialog(page).getByLabel('Model').fill('nonsense');
      await visit.expectRefusal(400, async () => {
        await send();
        await alert(page, '`model` cannot be used'.replaceAll('`', ''));
      });
      expectEqual('the faulty field', await dialog(page).getByLabel('Model').getAttribute('aria-invalid'), 'true');
      await visit.checkPage('rerun-refused-model');
      await visit.expectRefusal(404, async () => {
        await openComparison(visit, seed.runs.completed, 'run_unknown');
        await alert(page, 'run_not_found');
      });
      await visit.checkPage('compare-unknown');
      await openRun(visit, seed.runs.completed, '/compare');
      await page.getByRole('heading', { name: 'No second run' }).waitFor();
      await visit.checkPage('compare-nothing');
    },
  },
  {
    name: 'rerun-of-a-deleted-chat',
    async run(visit) {
      const { page, api, integration, seed } = visit;
      const chatId = visit.unique('deleted').replaceAll(' ', '-');
      const ids = { apiIntegrationId: integration, chatId, consumerId: seed.members[0], usageRequestId: chatId };
      const reader = await api.complete({ ...ids, message: 'Where is my order?' });
      await reader.over;
      await openRun(visit, String(reader.headers['x-run-id']));
      await page.getByRole('button', { name: 'Run again' }).click();
      await dialog(page).waitFor();
      await api.delete(`/v2/integrations/${integration}/chats/${chatId}`);
      await visit.expectRefusal(404, async () => {
        await dialog(page).getByRole('button', { name: 'Run again' }).click();
        await alert(page, 'The chat of this run was deleted.');
      });
      await visit.checkPage('rerun-of-a-deleted-chat');
    },
  },
  {
    name: 'rerun-viewer',
    signedIn: false,
    async run(visit) {
      const { page, api, seed } = visit;
      const email = `${visit.unique('reader').replaceAll(' ', '-')}@example.com`;
      const { body } = await api.post('/v2/people', { email, role: 'viewer' });
      await setUp(page, body.setupLink, { email, password: 'a long enough password' });
      await openRun(visit, seed.runs.tool, '?step=2');
      await page.getByRole('button', { name: 'Compare' }).waitFor();
      expectEqual('buttons that rerun', await page.getByRole('button', { name: /^Run again/ }).count(), 0);
    },
  },
];
