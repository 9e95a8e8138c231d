import { test } from 'node:test';
import { count, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import { expectAtMost, Shortfall } from '@runwire/test-kit/shortfall.ts';
import type { Page } from 'playwright-core';
import { MILLION } from '../../bench/history.ts';
import { missingServices } from '../support/services.ts';
import { ConsoleRig } from './console-rig.ts';
import { BuiltConsole, type SourceChange } from './fault-build.ts';
import { type LargeFigures, type LargeList, LargePage } from './large-page.ts';
import { type LargeSizes, seedLarge, seedPast } from './seed-large.ts';

/*
 * Opens the pages with the longest lists in a real browser, scrolls through each by wheel, and leaves it: the first rows
 * are shown soon after their answer, no task is long, few rows are in the document, and the memory is free afterwards. With a
 * million runs, a search, the overview and 10 000 open questions show their first rows soon after the click.
 */

const SHORT: LargeSizes = { members: 2000, messages: 400, events: 4000, files: 1000 };
const FULL: LargeSizes = { members: 10_000, messages: 2000, events: 20_000, files: 5000 };

/** For the first visit of each page. */
const SMALL: LargeSizes = { members: 2, messages: 4, events: 2, files: 2 };

const MAX_FIRST_ROW_MS = 1000;
const MAX_TASK_MS = 100;
const MAX_ROWS = 200;
const MAX_LEFT_BYTES = 2_000_000;
/** Longer than lists are kept after their page was left. */
const RELEASE_MS = 15_000;

const FAULTS: Readonly<Record<string, SourceChange>> = {
  'render-rows': { file: 'ui/data-table.tsx', text: 'overscan: 8,', by: 'overscan: 1_000_000,' },
  // A search begins while one types.
  'slow-search': { file: 'ui/use-typed-text.ts', text: 'const PAUSE_MS = 300;', by: 'const PAUSE_MS = 3000;' },
  'keep-lists': { file: 'app/paged-list.ts', text: 'gcTime: KEEP_MS,', by: 'gcTime: Infinity,' },
};

const formatted = (count: number) => new Intl.NumberFormat('en-GB').format(count);

async function choose(page: Page, name: string): Promise<void> {
  // The number of open questions follows the name.
  const link = new RegExp(`^${name}( .* open)?$`);
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: link }).click();
}

function toLists({ members, messages, events, files }: LargeSizes): readonly LargeList[] {
  const allRows = (count: number, what: string) => (page: Page) =>
    page.getByText(`${formatted(count)} ${what}`, { exact: true }).waitFor();
  return [
    {
      name: 'members',
      rows: 'tr[data-row]',
      request: '/members?',
      open: (page) => choose(page, 'Members'),
      waitForEnd: allRows(members, 'members'),
    },
    {
      name: 'files',
      rows: 'tr[data-row] a[href*="first-"]',
      request: '/files?folder=%2Fapp%2Fmnt%2Fmany',
      async open(page) {
        await choose(page, 'Files');
        await page.getByRole('link', { name: 'many' }).click();
      },
      waitForEnd: allRows(files, 'items'),
    },
    {
      // Each turn is a message and its answer.
      name: 'messages',
      rows: 'ol[aria-label="Messages"] > li',
      request: '/messages?',
      isUpwards: true,
      async open(page) {
        await choose(page, 'Chats');
        await page.getByRole('row').filter({ hasText: 'long-chat' }).getByRole('link').first().click();
      },
      waitForEnd: (page) =>
        page
          .locator(`li[aria-setsize="${messages / 2}"]`)
          .first()
          .waitFor(),
    },
    {
      name: 'events',
      rows: '[role="option"]',
      request: '/events',
      box: '[role="listbox"]',
      async open(page) {
        await choose(page, 'Runs');
        await page.getByRole('row').nth(1).getByRole('link').first().click();
        await page.getByRole('tab', { name: 'Events' }).click();
      },
      async waitForEnd(page) {
        const setSize = await page.locator('[role="option"]').first().getAttribute('aria-setsize');
        if (Number(setSize) < events) throw new Shortfall(`events: expected at least ${events}, found ${setSize}.`);
      },
    },
  ];
}

/** Each figure that is too large, as a sentence. */
function listProblems(name: string, figures: LargeFigures): string[] {
  const limits = [
    ['ms to the first row', figures.firstRowMs, MAX_FIRST_ROW_MS],
    ['ms of the longest task while scrolling', figures.longestTaskMs, MAX_TASK_MS],
    ['rows in the document', figures.rows, MAX_ROWS],
    ['bytes after leaving', figures.leftBytes, MAX_LEFT_BYTES],
  ] as const;
  return limits.flatMap(([what, found, limit]) =>
    found <= limit ? [] : [`${name}: ${what}: expected at most ${limit}, found ${Math.round(found)}.`],
  );
}

test('large lists keep the console fast and its memory small', async (t) => {
  const fault = plantedFault();
  const [missing] = await missingServices(['chromium']);
  if (missing !== undefined) return t.skip(missing);
  const change = FAULTS[fault ?? ''];
  using built = change === undefined ? null : await BuiltConsole.build(change);
  await using rig = await ConsoleRig.start(built === null ? {} : { consoleFolder: built.folder });
  const sizes = scale(SHORT, FULL);
  await seedLarge(rig, 'small', SMALL);
  await seedLarge(rig, 'large', sizes);
  const page = await rig.openPage({ signedIn: true });
  await LargePage.prepare(page);
  const large = new LargePage(page, rig.getWatch(page).session);
  const leave = () => choose(page, 'Overview');
  // All code is loaded before the memory is measured.
  await page.goto(rig.url('integrations/small'));
  for (const list of toLists(SMALL)) {
    await list.open(page);
    await page.locator(list.rows).first().waitFor();
    await leave();
  }
  await page.getByRole('combobox', { name: 'Integration' }).selectOption({ label: 'large' });
  const sum = { firstRowMs: 0, longestTaskMs: 0, rows: 0, leftBytes: 0 };
  const problems: string[] = [];
  await page.waitForTimeout(RELEASE_MS);
  for (const list of toLists(sizes)) {
    const figures = await large.measure(list, async () => {
      await leave();
      await page.waitForTimeout(RELEASE_MS);
    });
    problems.push(...listProblems(list.name, figures));
    for (const [name, figure] of Object.entries(figures) as [keyof LargeFigures, number][]) {
      sum[name] = Math.max(sum[name], Math.round(figure));
    }
  }
  if (problems.length > 0) throw new Shortfall(problems.join('\n'));
  count({ ...sizes, ...sum });
});

const SHORT_PAST = { runs: 8000, chats: 2000, members: 800, days: 90, questions: 400 };
const FULL_PAST = { ...MILLION, questions: 10_000 };

test('a long past is searched, summed up and asked about within a second', async (t) => {
  const [missing] = await missingServices(['chromium']);
  if (missing !== undefined) return t.skip(missing);
  const change = FAULTS[plantedFault() ?? ''];
  using built = change === undefined ? null : await BuiltConsole.build(change);
  const folder = built === null ? {} : { consoleFolder: built.folder };
  await using rig = await ConsoleRig.start({ ...folder, limits: { searchMs: 1 } });
  const past = scale(SHORT_PAST, FULL_PAST);
  await seedPast(rig, 'past', past);
  const page = await rig.openPage({ signedIn: true });
  await LargePage.prepare(page);
  const large = new LargePage(page, rig.getWatch(page).session);
  const search = page.getByRole('combobox', { name: 'Search' });
  const sought = past.runs - 77;
  const steps: readonly (readonly [string, string, () => Promise<void>])[] = [
    ['overview', '[aria-labelledby="last-hours"] dd', () => choose(page, 'Overview')],
    ['home', '[aria-labelledby="needs-you"] li', () => choose(page, 'Home')],
    ['questions', 'article', () => choose(page, 'Approvals')],
  ];
  // All code is loaded before the times are measured.
  for (const [, selector, act] of steps) {
    await page.goto(rig.url('integrations/past/runs'));
    await page.locator('tr[data-row]').first().waitFor();
    await act();
    await page.locator(selector).first().waitFor();
  }
  const sum: Record<string, number> = {};
  for (const [name, selector, act] of steps) {
    await page.goto(rig.url('integrations/past/runs'));
    await page.locator('tr[data-row]').first().waitFor();
    sum[`${name}Ms`] = Math.round(await large.measureFirst(name, selector, act));
  }
  await page.goto(rig.url('integrations/past/runs'));
  const found = `tr[data-row$="${String(sought).padStart(24, '0')}"]`;
  sum.searchMs = Math.round(await large.measureFirst('search', found, () => search.fill(`number ${sought}`)));
  await page.getByText('1 run', { exact: true }).waitFor();
  await choose(page, 'Approvals');
  await page.getByText(/^\d+ open questions so far$/).waitFor();
  for (const [name, ms] of Object.entries(sum)) expectAtMost(`${name} to the first rows`, ms, MAX_FIRST_ROW_MS);
  count({ runs: past.runs, questions: past.questions, ...sum });
});
