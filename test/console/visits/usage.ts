import { readFile } from 'node:fs/promises';
import { expectEqual, Shortfall } from '@runwire/test-kit/shortfall.ts';
import type { Page } from 'playwright-core';
import type { ConsoleVisit, VisitContext } from '../visit.ts';
import { shown } from './table-cell.ts';

const toUsage = ({ integration }: VisitContext) => `integrations/${integration}/usage`;
const plot = (page: Page, name: RegExp) => page.getByRole('slider', { name }).waitFor();
const getField = (page: Page, name: string) => new URL(page.url()).searchParams.get(name);

const dayFormat = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });

/** The row of the oldest day is what the API has. Narrow pages leave some columns out. */
async function checkOldestDay({ page, api, integration }: VisitContext): Promise<void> {
  const { body } = await api.get(`/v2/integrations/${integration}/usage/summary?groupBy=day&limit=200`);
  const { key, runs, usage, charged } = body.items.at(-1);
  const wanted: Readonly<Record<string, number>> = {
    Runs: runs,
    Tokens: usage.total_tokens,
    'Input tokens': usage.input_tokens,
    'Output tokens': usage.output_tokens,
    Charge: charged.tokens,
  };
  const table = page.getByRole('table', { name: /^Tokens by day, / });
  const titles = (await table.getByRole('columnheader').allTextContents()).slice(1);
  const row = table.getByRole('row', { name: dayFormat.format(new Date(key)) });
  const cells = await row.getByRole('cell').allTextContents();
  expectEqual(`usage of ${key} has tokens`, usage.total_tokens > 0 && titles.includes('Tokens'), true);
  expectEqual(
    `usage of ${key}`,
    cells,
    titles.map((title) => shown(wanted[title] ?? Number.NaN)),
  );
}

/** The values of the oldest day with usage, at the pointer, for the keyboard and for screen readers. */
async function checkHover({ page, api, integration }: VisitContext): Promise<void> {
  const { body } = await api.get(`/v2/integrations/${integration}/usage/summary?groupBy=day&limit=200`);
  const { key, usage } = body.items.at(-1);
  const day = dayFormat.format(new Date(key));
  const wanted = `${day}: Tokens ${shown(usage.total_tokens)}`;
  const chart = page.getByRole('slider', { name: /^Tokens by day, / });
  const values = chart.getByText(day);
  const days = Number(await chart.getAttribute('aria-valuemax')) + 1;
  expectEqual('values before', await values.count(), 0);
  await chart.focus();
  for (let step = 0; step < days; step += 1) {
    if ((await chart.getAttribute('aria-valuetext')) === wanted) break;
    await page.keyboard.press('ArrowLeft');
  }
  expectEqual('values by keyboard', await chart.getAttribute('aria-valuetext'), wanted);
  await values.waitFor();
  const at = Number(await chart.getAttribute('aria-valuenow'));
  await page.keyboard.press('Escape');
  await values.waitFor({ state: 'hidden' });
  const box = await chart.boundingBox();
  // The axis of the values takes 48 px, the room at the end 8 px.
  const x = (box?.x ?? 0) + 48 + ((at + 0.5) * ((box?.width ?? 0) - 56)) / days;
  await page.mouse.move(x, (box?.y ?? 0) + 100);
  await values.waitFor();
  expectEqual('values at the pointer', await chart.getAttribute('aria-valuetext'), wanted);
}

export const usageVisits: readonly ConsoleVisit[] = [
  {
    name: 'usage',
    async run(visit) {
      const { page, seed, rig } = visit;
      const [first = '', second = ''] = seed.members;
      await visit.open(toUsage(visit));
      await plot(page, /^Tokens by day, /);
      await checkOldestDay(visit);
      await checkHover(visit);
      await visit.checkPage('usage');
      for (const measure of ['runs', 'charge']) {
        await page.getByLabel('Measure').selectOption(measure);
        await plot(page, measure === 'runs' ? /^Runs by day, / : /^Charge in tokens by day, /);
        expectEqual('measure in the address', getField(page, 'measure'), measure);
      }
      await page.getByLabel('Split by').selectOption('agent');
      await plot(page, / by day and agent, /);
      await page.getByRole('list', { name: 'Legend' }).getByText('Triage').waitFor();
      await visit.checkPage('usage-by-agent');
      await page.getByLabel('Split by').selectOption('model');
      await plot(page, / by day and model, /);
      await page.getByLabel('Split by').selectOption('member');
      await plot(page, / by day and member, /);
      await page.getByRole('columnheader', { name: first }).waitFor();
      await visit.checkPage('usage-by-member');
      await page.getByRole('combobox', { name: 'Member' }).fill(second);
      await page.keyboard.press('Enter');
      await page.getByRole('columnheader', { name: first }).waitFor({ state: 'hidden' });
      await rig.getWatch(page).quiet();
      await page.reload();
      await page.getByRole('columnheader', { name: second }).waitFor();
      expectEqual('columns of members', await page.getByRole('columnheader', { name: /^user-/ }).count(), 1);
      await page.getByRole('combobox', { name: 'Agent' }).selectOption('Triage');
      await rig.getWatch(page).quiet();
      expectEqual('agent in the address', getField(page, 'agent'), 'Triage');
      await page.getByRole('button', { name: 'Clear filters' }).click();
      await page.getByRole('columnheader', { name: first }).waitFor();
      expectEqual('filters in the address', new URL(page.url()).search, '?measure=charge&splitBy=member');
    },
  },
  {
    name: 'usage-empty',
    async run(visit) {
      const { page } = visit;
      await visit.open(`${toUsage(visit)}?from=2020-01-01&to=2020-01-31`);
      await page.getByRole('heading', { name: 'No runs in this period' }).waitFor();
      await visit.checkPage('usage-empty');
      await page.getByLabel('From').fill('2020-03-01');
      await page.getByRole('alert').filter({ hasText: 'The first day is after the last day.' }).waitFor();
      await visit.checkPage('usage-wrong-period');
      await page.getByLabel('From').fill('2018-01-01');
      await page.getByRole('alert').filter({ hasText: 'The page shows at most 366 days.' }).waitFor();
    },
  },
  {
    name: 'usage-without-allowances',
    async run(visit) {
      const { page, seed } = visit;
      await visit.open(`integrations/${seed.otherIntegration}/usage?measure=charge`);
      await page.getByRole('option', { name: 'Charge' }).waitFor({ state: 'detached' });
      expectEqual('measure', await page.getByLabel('Measure').inputValue(), 'tokens');
      await visit.checkPage('usage-without-allowances');
    },
  },
  {
    name: 'usage-of-no-integration',
    async run(visit) {
      await visit.expectRefusal(404, async () => {
        await visit.open('integrations/no-such-integration/usage');
        await visit.page
          .getByRole('alert')
          .filter({ hasText: /integration/ })
          .waitFor();
      });
      await visit.checkPage('usage-no-integration');
    },
  },
  {
    name: 'usage-csv',
    async run(visit) {
      const { page, seed } = visit;
      await visit.open(`${toUsage(visit)}?member=${seed.members[0]}`);
      const downloading = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Download CSV' }).click();
      const download = await downloading;
      expectEqual('end of the file name', download.suggestedFilename().endsWith('.csv'), true);
      const [head = '', ...rows] = (await readFile(await download.path(), 'utf8')).trim().split(/\r?\n/);
      expectEqual('column of the file', head.split(',').includes('consumerId'), true);
      const foreign = rows.filter((row) => !row.includes(seed.members[0] ?? ''));
      if (rows.length === 0 || foreign.length > 0) {
        throw new Shortfall(
          `rows of ${seed.members[0]}: found ${rows.length}, of which ${foreign.length} are of others.`,
        );
      }
      await visit.checkPage('usage-of-member');
    },
  },
];
