import { test } from 'node:test';
import { count, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import { expectEqual, Shortfall, until, WAIT_MS } from '@runwire/test-kit/shortfall.ts';
import type { Page } from 'playwright-core';
import { missingServices } from '../support/services.ts';
import { ConsoleRig } from './console-rig.ts';
import { BuiltConsole, type SourceChange } from './fault-build.ts';
import { LongAnswer, wordsIn } from './long-answer.ts';
import { PageMeasures } from './page-measures.ts';
import { TaskTrace } from './task-trace.ts';

/*
 * A long answer with tools in the playground. First it is measured: no task of the page takes long, what was shown does
 * not move and is not made again, and scrolling up is not undone. Then the page is reloaded at ten points, and the server
 * is killed once: nothing is missing or doubled, and the last reloads are measured too.
 */

const INTEGRATION = 'stream';
const MAX_TASK_MS = 100;
const WORDS_PER_SECOND = 150;

const FAULTS: Readonly<Record<string, SourceChange>> = {
  'render-all': {
    file: 'ui/markdown.tsx',
    text: '<Block key={index} text={block} />',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source code.
    by: '<Block key={`${index} ${length}`} text={block} />',
  },
};

const lastAnswer = (page: Page) => page.getByRole('article', { name: 'Answer' }).last();

async function shownWords(page: Page): Promise<readonly string[]> {
  return wordsIn((await lastAnswer(page).textContent()) ?? '');
}

async function untilShown(page: Page, count: number): Promise<void> {
  await until(`${count} words in the page`, async () => (await shownWords(page)).length >= count, {
    limitMs: 4 * WAIT_MS,
    pauseMs: 200,
  });
}

const untilEnd = (page: Page) =>
  lastAnswer(page)
    .getByRole('link', { name: 'Open the run' })
    .waitFor({ timeout: 4 * WAIT_MS });

/** The words must be the first ones of the answer, each once and in order. */
function expectStart(what: string, shown: readonly string[], { words }: LongAnswer): void {
  const wrong = shown.findIndex((word, index) => word !== words[index]);
  if (wrong === -1) return;
  throw new Shortfall(`${what}: word ${wrong + 1} is ${shown[wrong]}, expected ${words[wrong]}.`);
}

async function expectWhole(rig: ConsoleRig, page: Page, answer: LongAnswer): Promise<void> {
  const chat = new URL(page.url()).searchParams.get('chat') ?? '';
  const { body } = await rig.api.get(`/v2/integrations/${INTEGRATION}/chats/${chat}/messages`);
  const { items } = body as { items: readonly { readonly role: string; readonly content: string }[] };
  const stored = items.find(({ role }) => role === 'assistant')?.content ?? '';
  const shown = await shownWords(page);
  expectStart('the page', shown, answer);
  expectEqual('words in the page', shown.length, answer.words.length);
  expectEqual('words of the stored answer', wordsIn(stored).join(' '), shown.join(' '));
  expectEqual('tools in the page', await lastAnswer(page).getByText('Tool find_order').count(), answer.steps - 1);
}

async function begin(rig: ConsoleRig, page: Page, answer: LongAnswer): Promise<void> {
  rig.model.script = (call) => answer.play(call);
  await page.goto(rig.url(`integrations/${INTEGRATION}/playground`));
  await page.getByRole('heading', { name: /^New chat with / }).waitFor();
  await rig.getWatch(page).quiet();
}

async function send(page: Page): Promise<void> {
  await page.getByRole('textbox', { name: 'Message' }).fill('Tell me everything.');
  await page.keyboard.press('Enter');
}

/** One answer without any disturbance. */
async function measure(rig: ConsoleRig, answer: LongAnswer) {
  const page = await rig.openPage({ signedIn: true });
  await begin(rig, page, answer);
  const measures = await PageMeasures.start(page);
  const trace = await TaskTrace.start(rig.browser);
  await send(page);
  await untilShown(page, answer.words.length / 4);
  await measures.keepFinished();
  // The person reads what is above.
  await page.mouse.move(500, 300);
  await page.mouse.wheel(0, -400);
  await page.getByRole('button', { name: 'Jump to the latest' }).waitFor();
  await untilShown(page, answer.words.length / 3);
  const top = await measures.scrollTop();
  await page.getByRole('textbox', { name: 'Message' }).click();
  await untilShown(page, (2 * answer.words.length) / 3);
  expectEqual('moved by the page after the person scrolled up', (await measures.scrollTop()) - top, 0);
  await page.getByRole('button', { name: 'Jump to the latest' }).click();
  await untilEnd(page);
  await expectWhole(rig, page, answer);
  const [tasksMs, { shifts, madeAgain }] = [await trace.stop(), await measures.stop()];
  expectEqual(
    `finished blocks that were made again, tasks longer than ${MAX_TASK_MS} ms`,
    [madeAgain, ...listLongTasks(tasksMs)].join(', '),
    '0',
  );
  expectEqual('layout shifts', shifts.flatMap(({ moved }) => moved).join('\n'), '');
  await page.context().close();
  return { longestTaskMs: getLongest(tasksMs) };
}

const getLongest = (tasksMs: readonly number[]) => Math.round(tasksMs[0] ?? 0);
const listLongTasks = (tasksMs: readonly number[]) => tasksMs.filter((ms) => ms > MAX_TASK_MS).map(Math.round);

/**
 * An answer whose page is reloaded, and whose server is killed. From the last reload on the tasks are measured: nearly
 * all tokens arrive together then.
 */
async function disturb(rig: ConsoleRig, answer: LongAnswer, reloads: number) {
  const page = await rig.openPage({ signedIn: true });
  await begin(rig, page, answer);
  await send(page);
  const killAt = Math.ceil(reloads / 2);
  for (let reload = 1; reload <= reloads; reload += 1) {
    await untilShown(page, Math.floor((answer.words.length * reload) / (reloads + 1)));
    expectStart(`before reload ${reload}`, await shownWords(page), answer);
    if (reload === killAt) {
      await rig.expectError(page, 'outage', async () => {
        await rig.stopServer('SIGKILL');
        await page.getByText('The server does not answer.').waitFor({ timeout: WAIT_MS });
        await rig.startServer();
        // The page continues by itself.
        await page.getByText('The run continues with attempt 2.').waitFor({ timeout: WAIT_MS });
      });
      expectStart('after the server was killed', await shownWords(page), answer);
    }
    if (reload < reloads) await page.reload();
  }
  const trace = await TaskTrace.start(rig.browser);
  // The last reload is after the end.
  for (let reload = reloads; reload <= reloads + 1; reload += 1) {
    await page.reload();
    await untilEnd(page);
    await expectWhole(rig, page, answer);
    await rig.getWatch(page).checkShifts();
  }
  const tasksMs = await trace.stop();
  expectEqual(`tasks longer than ${MAX_TASK_MS} ms after a reload`, listLongTasks(tasksMs).join(', '), '');
  expectEqual('problems of the page', rig.getWatch(page).takeProblems().join('\n'), '');
  await page.context().close();
  return { longestTaskAfterReloadMs: getLongest(tasksMs) };
}

const chooseFigures = () => ({ tokens: scale(1000, 5000), reloads: scale(3, 10), kills: 1 });

test('a long answer keeps the playground smooth, also after reloads', async (t) => {
  const fault = plantedFault();
  const [missing] = await missingServices(['chromium']);
  if (missing !== undefined) return t.skip(missing);
  const change = FAULTS[fault ?? ''];
  using built = change === undefined ? null : await BuiltConsole.build(change);
  await using rig = await ConsoleRig.start(built === null ? {} : { consoleFolder: built.folder });
  const integration = { apiIntegrationId: INTEGRATION, agency: 'support' };
  expectEqual('status of the integration', (await rig.api.post('/v2/integrations', integration)).status, 201);
  const { tokens, reloads, kills } = chooseFigures();
  const { longestTaskMs } = await measure(rig, new LongAnswer(tokens, WORDS_PER_SECOND));
  const { longestTaskAfterReloadMs } = await disturb(rig, new LongAnswer(tokens, WORDS_PER_SECOND), reloads);
  count({ tokens, reloads, kills, longestTaskMs, longestTaskAfterReloadMs });
});
