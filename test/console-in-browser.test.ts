import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { axeFindings } from '../proofs/support/console/axe-check.ts';
import { ConsoleRig } from '../proofs/support/console/console-rig.ts';
import { chooseInProfile } from '../proofs/support/console/sign-in-pages.ts';
import { cites } from '../requirements/cite.ts';
import { missingService } from './support/services.ts';

const noChromium = (await missingService('chromium')) ?? false;

// `npm run prove -- console` visits every page.
test('a person sets a password and creates an API key in a browser', { skip: noChromium }, async (t) => {
  cites(t, 'spec-5-where');
  await using rig = await ConsoleRig.start({ agencies: {} });
  const page = await rig.openPage();
  const watch = rig.watchOf(page);
  await rig.signIn(page);
  await chooseInProfile(page, 'API keys');
  await page.getByRole('button', { name: 'Create key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('backend');
  await dialog.getByRole('button', { name: 'Create key' }).click();
  const key = await dialog.getByRole('region', { name: 'API key' }).innerText();
  assert.equal((await rig.api.as(key.trim()).get('/v2/me')).status, 200);
  await dialog.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('row', { name: /^backend active/ }).waitFor();
  await watch.quiet();
  assert.deepEqual(await axeFindings(watch.session), []);
  await seesTurnsOfOtherTabs(rig, page);
  assert.deepEqual(watch.takeProblems(), []);
});

/** Two tabs have the same chat. Each shows what the other one sends. */
async function seesTurnsOfOtherTabs(rig: ConsoleRig, page: Page): Promise<void> {
  const send = async (tab: Page, message: string) => {
    await tab.getByRole('textbox', { name: 'Message' }).fill(message);
    await tab.getByRole('button', { name: 'Send' }).and(tab.locator('[aria-disabled="false"]')).click();
  };
  const answers = (tab: Page) => tab.getByRole('article', { name: 'Answer' });
  await page.goto(rig.url('integrations/demo/playground'));
  await send(page, 'tool absent {}');
  await answers(page).getByRole('group').getByText('failed', { exact: true }).waitFor();
  await page.waitForURL(/chat=/);
  const other = await page.context().newPage();
  await other.goto(page.url());
  await answers(other).getByRole('link', { name: 'Open the run' }).waitFor();
  await send(other, 'team up');
  await answers(page).nth(1).getByRole('heading', { name: 'Guide', exact: true }).waitFor();
  await answers(page).nth(1).getByRole('link', { name: 'Open the run' }).waitFor();
}
