import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expectEqual } from '@runwire/test-kit/shortfall.ts';
import { SEED_AGENCIES } from '../seed-agencies.ts';
import { chooseInMenu } from '../sign-in-pages.ts';
import { alert, invite, isLoaded, signInNewOwner, toast, untilAgency } from '../steps.ts';
import type { ConsoleVisit, VisitContext } from '../visit.ts';

const getAgency = (name: string) => `name: ${name}\nagents: [{ name: Clerk, instructions: You help. }]\n`;

/** An integration of this visit alone. Its name has spaces, its id has hyphens. */
async function newIntegration({ api, unique }: VisitContext, name: string, settings: object = {}) {
  const id = getId(unique(name));
  const { status } = await api.post('/v2/integrations', { apiIntegrationId: id, name: unique(name), ...settings });
  expectEqual('status of a new integration', status, 201);
  return { id, name: unique(name) };
}

const getId = (name: string) => name.replaceAll(' ', '-');

async function openDialog({ page, open }: VisitContext) {
  await open('integrations');
  await page.getByRole('button', { name: 'Create integration' }).click();
  const dialog = page.getByRole('dialog', { name: 'Create an integration' });
  await dialog.getByLabel('Agency').waitFor();
  return dialog;
}

/** Runs the sample of the page as a person does who pasted it. */
async function runSample({ page, api }: VisitContext, label: string): Promise<string> {
  const code = await page.getByRole('region', { name: label }).innerText();
  const { body } = await api.post('/v2/api_keys', { name: 'sample' });
  const env = { ...process.env, RUNWIRE_API_KEY: String(body.apiKey) };
  const { stdout } = await promisify(execFile)('sh', ['-c', code], { env });
  return stdout;
}

export const integrationVisits: readonly ConsoleVisit[] = [
  {
    name: 'integrations',
    async run(visit) {
      const { page, seed } = visit;
      await visit.open('integrations');
      const row = page.getByRole('row').filter({ hasText: seed.integration });
      await row.getByRole('link', { name: 'Web shop' }).waitFor();
      await visit.checkPage('integrations');
      await row.getByRole('link', { name: 'Web shop' }).click();
      await page.getByRole('heading', { level: 1, name: 'Web shop' }).waitFor();
      await visit.checkPage('integration-with-allowances');
    },
  },
  {
    name: 'integration-create',
    async run(visit) {
      const { page, api, unique } = visit;
      const id = getId(unique('created'));
      const dialog = await openDialog(visit);
      await visit.checkPage('integration-create');
      await dialog.getByLabel('Name').fill(unique('created'));
      await dialog.getByLabel('Id (optional)').fill(id);
      await dialog.getByLabel('Agency').selectOption('demo');
      expectEqual('the entry point of the demo', await dialog.getByLabel('Entry point').inputValue(), 'Concierge');
      await dialog.getByLabel('Agency').selectOption('support');
      await dialog.getByLabel('Entry point').selectOption('Billing');
      await dialog.getByLabel('Text Only Mode').check();
      await dialog.getByRole('button', { name: 'Create integration' }).click();
      await page.getByRole('heading', { level: 1, name: unique('created') }).waitFor();
      const { body } = await api.get(`/v2/integrations/${id}`);
      expectEqual('the integration', [body.agency, body.defaultAgent, body.textOnly], ['support', 'Billing', true]);
      await visit.checkPage('integration-created');
      await page.getByRole('tab', { name: 'Connect' }).click();
      expectEqual('the answer to the sample is not empty', (await runSample(visit, 'curl sample')).length > 0, true);
    },
  },
  {
    name: 'integration-samples',
    async run(visit) {
      const { page } = visit;
      const { id } = await newIntegration(visit, 'samples');
      await visit.open(`integrations/${id}?tab=connect`);
      await page.getByRole('button', { name: 'Create a key for the samples' }).click();
      const line = page.getByRole('region', { name: 'command that sets the key' });
      await line.filter({ hasText: /RUNWIRE_API_KEY='(?!<)/ }).waitFor();
      await visit.checkPage('integration-connect');
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      for (const language of ['curl', 'TypeScript', 'Python']) {
        // Its strings have a colour.
        await page
          .getByRole('region', { name: `${language} sample` })
          .locator('.code-string')
          .first()
          .waitFor();
        await page.getByRole('button', { name: `Copy ${language} sample` }).click();
        const copied = String(await page.evaluate('navigator.clipboard.readText()'));
        const hasBoth = copied.includes(id) && copied.includes(visit.rig.baseUrl);
        expectEqual(`the ${language} sample has the id and the address`, hasBoth, true);
      }
      const events = await runSample(visit, 'curl sample');
      expectEqual('the end of the stream', events.trimEnd().endsWith('data: [DONE]'), true);
    },
  },
  {
    name: 'integration-id-taken',
    async run(visit) {
      const dialog = await openDialog(visit);
      await dialog.getByLabel('Name').fill('Second shop');
      await dialog.getByLabel('Id (optional)').fill(visit.seed.integration);
      await visit.expectRefusal(409, () => dialog.getByRole('button', { name: 'Create integration' }).click());
      await alert(visit.page, /has or had this/);
      await visit.checkPage('integration-id-taken');
    },
  },
  {
    name: 'integration-agency-gone',
    async run(visit) {
      const { rig, page } = visit;
      const agency = getId(visit.unique('gone'));
      rig.agencies.write({ [`${agency}/agency.yaml`]: getAgency('Gone') });
      await untilAgency(visit, agency, isLoaded);
      const dialog = await openDialog(visit);
      await dialog.getByLabel('Name').fill('Too late');
      await dialog.getByLabel('Agency').selectOption(agency);
      rig.agencies.delete(agency);
      await untilAgency(visit, agency, (found) => found === undefined);
      await visit.expectRefusal(400, () => dialog.getByRole('button', { name: 'Create integration' }).click());
      await alert(page, /no agency with this name/);
      await visit.checkPage('integration-agency-gone');
    },
  },
  {
    name: 'integration-agency-broken',
    async run(visit) {
      const { rig, page } = visit;
      const agency = getId(visit.unique('broken'));
      const file = `${agency}/agency.yaml`;
      rig.agencies.write({ [file]: getAgency('Broken') });
      await untilAgency(visit, agency, isLoaded);
      const { name } = await newIntegration(visit, 'with', { agency });
      rig.agencies.write({ [file]: 'name: Broken\n' });
      await untilAgency(visit, agency, (found) => !isLoaded(found));
      await visit.open('integrations');
      const row = page.getByRole('row').filter({ hasText: name });
      await row.getByText('broken', { exact: true }).waitFor();
      await visit.checkPage('integrations-broken');
      await row.getByRole('link', { name }).click();
      const warning = page.getByRole('status').filter({ hasText: 'The files of the agency cannot be loaded.' });
      await warning.getByText('Runs use the last version that could be loaded.').waitFor();
      await visit.checkPage('integration-agency-broken');
      for (const section of ['Runs', 'Files', 'Webhooks']) {
        await chooseInMenu(page, section);
        await warning.waitFor();
      }
      rig.agencies.write({ [file]: getAgency('Broken') });
      await warning.waitFor({ state: 'hidden' });
      rig.agencies.delete(agency);
      await page.getByRole('status').filter({ hasText: 'This server has no agency with this id.' }).waitFor();
    },
  },
  {
    name: 'integration-settings',
    async run(visit) {
      const { page } = visit;
      const { id } = await newIntegration(visit, 'settings');
      await visit.open(`integrations/${id}`);
      await page.getByRole('tab', { name: 'Settings' }).click();
      expectEqual('the tab in the address', new URL(page.url()).searchParams.get('tab'), 'settings');
      await visit.checkPage('integration-settings');
      const save = page.getByRole('button', { name: 'Save settings' });
      await save.click();
      await toast(page, 'There is nothing to save');

      await page.getByLabel('Longest run, in seconds').fill('60');
      const [request] = await Promise.all([
        page.waitForRequest((sent) => sent.method() === 'PATCH'),
        save.click().then(() => toast(page, 'The settings are saved.')),
      ]);
      expectEqual('the fields that were sent', request.postDataJSON(), { maxRunSeconds: 60 });

      await page.getByLabel('Folder of a member').fill('/elsewhere');
      await visit.expectRefusal(400, () => save.click());
      await alert(page, /memberFolder/);
      const folder = page.getByLabel('Folder of a member');
      await folder.and(page.locator(':focus[aria-invalid="true"]')).waitFor();
      await visit.checkPage('integration-settings-refused');
    },
  },
  {
    name: 'integration-all-settings',
    async run(visit) {
      const { page, api } = visit;
      const { id } = await newIntegration(visit, 'all settings');
      const before = (await api.get(`/v2/integrations/${id}`)).body;
      await visit.open(`integrations/${id}?tab=settings`);
      await page.getByLabel('Name', { exact: true }).fill(visit.unique('renamed'));
      await page.getByRole('combobox', { name: 'Agency' }).selectOption('support');
      await page.getByLabel('Entry point').selectOption('Billing');
      await page.getByLabel('Model').fill('offline/demo');
      await page.getByLabel('Text Only Mode').check();
      await page.getByLabel('Tools of the caller').check();
      await page.getByLabel('Instructions of the caller').check();
      await page.getByLabel('Register unknown members').check();
      await page.getByLabel('AG-UI').uncheck();
      await page.getByLabel('Allowance of each member').selectOption('runs');
      await page.getByLabel('Limit', { exact: true }).fill('25');
      await page.getByLabel('Period').selectOption('week');
      await page.getByLabel('Concurrent runs of a member').fill('4');
      await page.getByLabel('Longest run, in seconds').fill('60');
      await page.getByLabel('If the reader disconnects').selectOption('cancel');
      await page.getByLabel('File access').selectOption('member');
      await page.getByLabel('Folder of a member').fill('/app/mnt/people/{consumerId}');
      await page.getByLabel('Keep attachments').uncheck();
      await page.getByRole('button', { name: 'Save settings' }).click();
      await toast(page, 'The settings are saved.');
      await visit.checkPage('integration-settings-saved');
      const after = (await api.get(`/v2/integrations/${id}`)).body;
      const wanted: Readonly<Record<string, unknown>> = {
        name: visit.unique('renamed'),
        agency: 'support',
        defaultAgent: 'Billing',
        model: 'offline/demo',
        textOnly: true,
        clientTools: true,
        callerInstructions: true,
        autoRegister: true,
        compatibleApis: ['openai', 'ai-sdk', 'mcp', 'agency-swarm'],
        allowances: { unit: 'runs', limit: 25, period: 'week' },
        maxRunsPerMember: 4,
        maxRunSeconds: 60,
        onDisconnect: 'cancel',
        fileAccess: 'member',
        memberFolder: '/app/mnt/people/{consumerId}',
        keepAttachments: false,
      };
      for (const [field, value] of Object.entries(wanted)) {
        expectEqual(`the saved ${field}`, after[field], value);
        expectEqual(
          `${field} was something else before`,
          JSON.stringify(before[field]) === JSON.stringify(value),
          false,
        );
      }
    },
  },
  {
    name: 'integration-delete',
    async run(visit) {
      const { page, api } = visit;
      const { id, name } = await newIntegration(visit, 'to delete');
      await visit.open(`integrations/${id}?tab=settings`);
      await page.getByRole('button', { name: 'Delete integration' }).click();
      const dialog = page.getByRole('dialog', { name: 'Delete this integration?' });
      await dialog.getByLabel(`Type ${name} to confirm`).fill('something else');
      await dialog.getByRole('button', { name: 'Delete integration' }).click();
      await alert(page, `Type exactly ${name}.`);
      await visit.checkPage('integration-delete-wrong-name');
      await dialog.getByLabel(`Type ${name} to confirm`).fill(name);
      await dialog.getByRole('button', { name: 'Delete integration' }).click();
      await page.getByRole('heading', { level: 1, name: 'Integrations' }).waitFor();
      await toast(page, `The integration ${name} is deleted.`);
      expectEqual('status of the deleted integration', (await api.get(`/v2/integrations/${id}`)).status, 404);
      await page.getByRole('cell', { name: id, exact: true }).waitFor({ state: 'detached' });
    },
  },
  {
    name: 'integration-not-found',
    async run(visit) {
      await visit.expectRefusal(404, () => visit.open('integrations/never-created'));
      await alert(visit.page, 'integration_not_found');
      await visit.checkPage('integration-not-found');
    },
  },
  {
    name: 'integration-of-another-owner',
    async run(visit) {
      const { apiKey } = await invite(visit, 'other owner');
      const id = getId(visit.unique('foreign'));
      await visit.api.as(apiKey).post('/v2/integrations', { apiIntegrationId: id });
      await visit.expectRefusal(403, () => visit.open(`integrations/${id}`));
      await alert(visit.page, 'integration_forbidden');
      await visit.checkPage('integration-forbidden');
    },
  },
  {
    name: 'integrations-first-time',
    signedIn: false,
    async run(visit) {
      const { page, rig } = visit;
      await signInNewOwner(visit, 'first time');
      await visit.open('integrations');
      await page.getByRole('heading', { name: 'No integrations yet' }).waitFor();
      await visit.checkPage('integrations-empty');
      const folders = [...new Set(Object.keys(SEED_AGENCIES).map((path) => path.slice(0, path.indexOf('/'))))];
      for (const folder of folders) rig.agencies.delete(folder);
      try {
        await untilAgency(visit, 'support', (found) => found === undefined);
        await page.reload();
        await page.getByRole('heading', { name: 'Make an agency of your own' }).waitFor();
        await visit.checkPage('integrations-empty-without-agency');
      } finally {
        rig.agencies.write(SEED_AGENCIES);
        await untilAgency(visit, 'support', isLoaded);
      }
    },
  },
];
