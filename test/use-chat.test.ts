import { test } from 'node:test';
import type { ModelCall } from '@runwire/test-kit';
import { count, inGate, scale } from '@runwire/test-kit/scale.ts';
import { expectEqual, Shortfall } from '@runwire/test-kit/shortfall.ts';
import { cites } from '../requirements/cite.ts';
import { LongAnswer, wordsIn } from './console/long-answer.ts';
import { missingServices } from './support/services.ts';
import { type ChatPage, UseChatStage } from './support/use-chat-stage.ts';

/*
 * `useChat` in Chromium, as docs/ai-sdk.md has it, across origins with a client token. Nothing is missing, nothing is
 * doubled, and each run is charged once.
 */

const WORDS_PER_SECOND = 150;
const SECOND_ATTEMPT_WORDS = 60;

/** Answers with these texts, one for each call. A step that is repeated has the same text. */
type Script = Parameters<typeof script>[1][number];
function script(stage: UseChatStage, turns: readonly ((call: ModelCall) => Promise<void>)[]): void {
  let next = 0;
  stage.script = async (call) => {
    const turn = turns[next];
    next += 1;
    if (turn === undefined) throw new Error('The script has no further turn.');
    await turn(call);
  };
}

const say =
  (text: string): Script =>
  async (call) => {
    await call.text(text);
    await call.end();
  };

const hold =
  (text: string): Script =>
  (call) =>
    call.text(text);

/** The words must be the first ones of the answer, each once and in order. */
function expectStart(what: string, text: string, answer: LongAnswer): void {
  const wrong = wrongWord(text, answer);
  if (wrong !== null) throw new Shortfall(`${what}: ${wrong}.`);
}

function wrongWord(text: string, { words }: LongAnswer): string | null {
  const shown = wordsIn(text);
  const wrong = shown.findIndex((word, index) => word !== words[index]);
  return wrong === -1 ? null : `word ${wrong + 1} is ${shown[wrong]}, expected ${words[wrong]}`;
}

const untilWords = (page: ChatPage, words: number) =>
  page.until(`${words} words`, (texts) => wordsIn(texts.at(-1) ?? '').length >= words);

/**
 * Reloads the page while it answers, and kills the node that executes the run. A second page follows the run on the other
 * node, which takes it over: what that page has of the killed attempt becomes void. The answer waits at each point, so that it
 * does not end before the server is killed.
 */
async function reloads(stage: UseChatStage): Promise<{ readonly reloads: number; readonly kills: number }> {
  const points = scale(2, 10);
  const answer = new LongAnswer(scale(510, 1500), WORDS_PER_SECOND);
  const wordsAt = (point: number) => Math.floor((answer.words.length * point) / (points + 1));
  answer.lastWord = wordsAt(1);
  stage.script = (call) => answer.play(call);
  const page = await stage.open('reloads', 0);
  await page.send('Tell me everything.');
  const other = await stage.open('reloads', 1);
  for (let point = 1; point <= points; point += 1) {
    await untilWords(page, wordsAt(point));
    expectStart(`before reload ${point}`, await page.readAnswer(), answer);
    if (point === Math.ceil(points / 2)) {
      await untilWords(other, wordsAt(point));
      const release = answer.hold(SECOND_ATTEMPT_WORDS);
      await stage.killFirst();
      // The second attempt stops after its first words, so the page shows them for as long as the test needs: alone, or after
      // text that should have been removed.
      await other.until('words of the second attempt', (texts) => {
        const text = texts.at(-1) ?? '';
        return wordsIn(text).length < wordsAt(point) || wrongWord(text, answer) !== null;
      });
      expectStart('after the server was killed', await other.readAnswer(), answer);
      expectEqual('attempt', await stage.getAttempt('reloads'), 2);
      release();
      await stage.restartFirst();
    }
    answer.lastWord = wordsAt(point + 1);
    await page.reload();
  }
  for (const reader of [page, other]) {
    for (const what of ['the page', 'the page after the end']) {
      await untilWords(reader, answer.words.length);
      expectStart(what, await reader.readAnswer(), answer);
      expectEqual(`${what}: words`, wordsIn(await reader.readAnswer()).length, answer.words.length);
      await reader.page.locator('main[data-status="ready"]').waitFor();
      expectEqual(`${what}: messages`, (await reader.read()).length, 2);
      await reader.reload();
    }
    await reader.close();
  }
  const runs = await stage.listRuns('reloads');
  expectEqual('runs of the reloaded page', runs.map(({ status }) => status).join(', '), 'completed');
  return { reloads: points, kills: 1 };
}

/** The page makes its own call, and the user approves another one after a reload. */
async function asks(stage: UseChatStage): Promise<void> {
  script(stage, [
    async (call) => {
      await call.text('Wait.');
      await call.toolCall('a', 'find_order', '{"order":"A-1"}');
      await call.toolCall('b', 'position', '{}');
      await call.toolCall('c', 'refund', '{"cents":5}');
      await call.end();
    },
    say('Paid.'),
    say('Bye.'),
  ]);
  const page = await stage.open('asks');
  await page.send('Refund me.');
  const asking = 'user: Refund me.';
  const output = 'Tool position: {"at":"home"}';
  await page.until('the approval', (texts) => texts.at(-1)?.includes('Allow refund {"cents":5}?') === true);
  await page.click('Approve');
  await page.expect('the approved call', [
    asking,
    `assistant: Wait. | Tool find_order: "found" | ${output} | Tool refund: "refunded 5" | Paid.`,
  ]);
  const [first, second, ...others] = await stage.listRuns('asks');
  expectEqual('runs of an approval', others.length, 0);
  expectEqual('the run that is continued', second?.continues ?? null, first?.runId ?? null);
  expectEqual('calls', (await stage.listCalls(second?.runId ?? '')).toSorted().join(', '), 'position, refund');
  await page.reload();
  await page.expect('the reloaded page', [asking, 'assistant: Wait. | Paid.']);
  await page.send('Thanks.');
  await page.expect('the next answer', [asking, 'assistant: Wait. | Paid.', 'user: Thanks.', 'assistant: Bye.']);
  await page.close();
}

async function stopsAndContinues(stage: UseChatStage): Promise<void> {
  script(stage, [hold('Never en'), say('Next.')]);
  const page = await stage.open('stops');
  await page.send('Go.');
  await page.until('the first words', (texts) => texts.at(-1) === 'assistant: Never en');
  await page.click('Stop');
  await page.expect('the stopped answer', ['user: Go.', 'assistant: Never en']);
  await page.send('Go on.');
  await page.expect('the next answer', ['user: Go.', 'assistant: Never en', 'user: Go on.', 'assistant: Next.']);
  const runs = await stage.listRuns('stops');
  expectEqual('runs', runs.map(({ status }) => status).join(', '), 'cancelled, completed');
  await page.close();
}

/** Another answer to the last message, then another first message. */
async function replaces(stage: UseChatStage): Promise<void> {
  script(stage, [say('One.'), say('Two.'), say('Two again.'), say('New.')]);
  const page = await stage.open('replaces');
  await page.send('A');
  await page.expect('the first answer', ['user: A', 'assistant: One.']);
  await page.send('B');
  await page.expect('the second answer', ['user: A', 'assistant: One.', 'user: B', 'assistant: Two.']);
  await page.click('Regenerate');
  const again = ['user: A', 'assistant: One.', 'user: B', 'assistant: Two again.'];
  await page.expect('the answer that replaces it', again);
  await page.reload();
  await page.expect('the reloaded chat', again);
  await page.page.getByRole('button', { name: 'Edit', exact: true }).first().click();
  await page.send('A2');
  const edited = ['user: A2', 'assistant: New.'];
  await page.expect('the answer to the edited message', edited);
  await page.reload();
  await page.expect('the reloaded edited chat', edited);
  await page.close();
}

/** Two tabs show one chat. The second one's message cancels the answer of the first one. */
async function twoTabs(stage: UseChatStage): Promise<void> {
  script(stage, [hold('One'), say('Two.')]);
  const first = await stage.open('tabs', 0);
  await first.send('Go.');
  await first.until('the first words', (texts) => texts.at(-1) === 'assistant: One');
  const second = await stage.open('tabs');
  await second.until('the first words in the second tab', (texts) => texts.join() === 'user: Go.,assistant: One');
  await second.send('Now.');
  const all = ['user: Go.', 'assistant: One', 'user: Now.', 'assistant: Two.'];
  await second.expect('the second tab', all);
  await first.expect('the first tab', all.slice(0, 2));
  await first.reload();
  await first.expect('the first tab after a reload', all);
  for (const page of [first, second]) await page.close();
}

test('a page with useChat shows each answer whole and once', async (t) => {
  cites(t, 'compatible-20-ui-reset');
  const [missing] = await missingServices(['chromium', 'postgres']);
  if (missing !== undefined) return t.skip(missing);
  await using stage = await UseChatStage.start('docs/ai-sdk.md');
  const figures = await reloads(stage);
  await asks(stage);
  // The rest is shown without a browser in test/ai-sdk.test.ts.
  if (!inGate()) {
    await stopsAndContinues(stage);
    await replaces(stage);
    await twoTabs(stage);
  }
  const charges = await stage.expectCharges();
  count({ ...figures, charges });
});
