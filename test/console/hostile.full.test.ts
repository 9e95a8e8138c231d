import { test } from 'node:test';
import { count, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import { addTo, Shortfall } from '@runwire/test-kit/shortfall.ts';
import type { Page } from 'playwright-core';
import { missingServices } from '../support/services.ts';
import { ConsoleRig } from './console-rig.ts';
import { BuiltConsole, type SourceChange } from './fault-build.ts';
import { HostileWatch } from './hostile-checks.ts';
import { HOSTILE_AGENCIES, type HostilePage, INTEGRATION, MEMBER, stageHostileTexts } from './hostile-stage.ts';
import { CONTROLS, DEEP, MARKDOWN, markdownMarks, NAMES } from './hostile-texts.ts';

/*
 * Puts markup, scripts, links, bidirectional overrides, long lines and control characters into every name, message, answer,
 * tool output, approval question, attachment and file, and opens every page that shows them. Every page must show them as
 * text: nothing runs, nothing is fetched from elsewhere, and the page stays usable.
 */

/** Only these addresses of Markdown become links. */
const TRUST_MARKDOWN: SourceChange = {
  file: 'lib/markdown-blocks.ts',
  text: 'if (!/^(?:https?:\\/\\/|mailto:)/i.test(address)) return null;',
  by: 'return address;',
};

const WIDE = { width: 1280, height: 800 };
const NARROW = { width: 390, height: 844 };
/** More lines than this help no reader. */
const SHOWN_PROBLEMS = 40;

class Attack {
  readonly #rig: ConsoleRig;
  readonly #page: Page;
  readonly #watch: HostileWatch;
  readonly problems: string[] = [];

  constructor(rig: ConsoleRig, page: Page) {
    this.#rig = rig;
    this.#page = page;
    this.#watch = new HostileWatch(page);
  }

  get figures() {
    return { foreign_requests: this.#rig.getWatch(this.#page).foreign, scripts: this.#watch.scripts };
  }

  async open({ path, texts = [], marks = [], refusal }: HostilePage): Promise<void> {
    const load = async () => {
      await this.#page.goto(this.#rig.url(path));
      await this.#settle();
    };
    await this.#noting(path, async () => {
      await (refusal === undefined ? load() : this.#rig.expectError(this.#page, refusal, load));
      await this.#watch.check({ texts, marks });
    });
  }

  /** Sends the worst answer through the playground, which shows it while it arrives. */
  async converse(): Promise<void> {
    await this.#noting('a message in the playground', async () => {
      const page = this.#page;
      await page.goto(this.#rig.url(`integrations/${INTEGRATION}/playground?member=${MEMBER}`));
      const message = page.getByRole('textbox', { name: 'Message' });
      await message.fill(`say ${MARKDOWN}`);
      await message.press('Enter');
      // The first is the message, the next are the reasoning and the answer.
      await page.getByText('m-html-block').nth(1).waitFor({ state: 'attached' });
      await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'hidden' });
      await this.#settle();
      await this.#watch.check({ texts: [], marks: markdownMarks });
    });
  }

  async #settle(): Promise<void> {
    await this.#page.getByRole('heading', { level: 1 }).first().waitFor();
    await this.#rig.getWatch(this.#page).quiet();
  }

  /** A page with problems does not end the proof. */
  async #noting(what: string, work: () => Promise<void>): Promise<void> {
    const label = `${what.slice(0, 120)} at ${this.#page.viewportSize()?.width}`;
    await work().catch((error) =>
      this.problems.push(`${label}: ${error instanceof Shortfall ? error.message : error}`),
    );
    this.problems.push(
      ...this.#rig
        .getWatch(this.#page)
        .takeProblems()
        .map((problem) => `${label}: ${problem}`),
    );
  }
}

test('hostile texts are shown as text on every page', async (t) => {
  const fault = plantedFault();
  const [missing] = await missingServices(['chromium']);
  if (missing !== undefined) return t.skip(missing);
  using built = fault === null ? null : await BuiltConsole.build(TRUST_MARKDOWN);
  const folder = built === null ? {} : { consoleFolder: built.folder };
  await using rig = await ConsoleRig.start({ agencies: HOSTILE_AGENCIES, ...folder });
  const pages = await stageHostileTexts(rig);
  const payloads = NAMES.length + CONTROLS.length + DEEP.length + markdownMarks.length + 1;
  const sum = { payloads, pages: 0, foreign_requests: 0, scripts: 0 };
  for (const viewport of scale([WIDE], [WIDE, NARROW])) {
    const page = await rig.openPage({ ...viewport, signedIn: true });
    const attack = new Attack(rig, page);
    await attack.converse();
    for (const one of pages) await attack.open(one);
    addTo(sum, { pages: pages.length + 1, ...attack.figures });
    await page.context().close();
    const { problems } = attack;
    if (problems.length > 0) {
      const shown = problems.slice(0, SHOWN_PROBLEMS).join('\n');
      throw new Shortfall(`problems: expected 0, found ${problems.length}.\n${shown}`);
    }
  }
  count(sum);
});
