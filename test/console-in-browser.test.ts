import assert from 'node:assert/strict';
import { test } from 'node:test';
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
  assert.deepEqual(watch.takeProblems(), []);
});
