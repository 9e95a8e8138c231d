import { type ErrorCode, errors } from '@runwire/contract';
import { expectEqual, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import type { Locator, Page } from 'playwright-core';
import { at, upload } from '../../support/uploads.ts';
import { chooseInMenu } from '../sign-in-pages.ts';
import { isLoaded, untilAgency } from '../steps.ts';
import type { ConsoleVisit, VisitContext } from '../visit.ts';
import { send } from './playground.ts';

/** A request that the API refuses, and what the page must show of it. */
interface RefusedRequest {
  /** Part of the name of the visit and of the screenshots. */
  readonly name: string;
  readonly code: ErrorCode;
  /** That of the error table by default. */
  readonly sentence?: string;
  /** Undefined if the sentence contains what to do. */
  readonly advice?: string;
  /** Further statuses that the browser sees. */
  readonly alsoSees?: readonly number[];
  /** The element that shows the refusal; an alert by default. */
  readonly place?: (page: Page) => Locator;
  /** Does what a person does until the refusal arrives. */
  refuse(visit: VisitContext): Promise<void>;
  /** After the cause has ended, the same page does what was refused. */
  resume(visit: VisitContext): Promise<void>;
}

const getId = ({ unique }: VisitContext, name: string) => unique(name).replaceAll(' ', '-');
const answers = (page: Page) => page.getByRole('article', { name: 'Answer' });
const dialog = (page: Page) => page.getByRole('dialog');

/** A stream's errors have no status, and no entry of the table is one of them. */
const getStatus = (code: ErrorCode): number => errors[code].status ?? 0;

/** Until `unrouteAll`, requests with this method are refused as the API does. */
async function refuseRequests(
  page: Page,
  request: { readonly method: string; readonly path: RegExp },
  code: ErrorCode,
  sentence: string = errors[code].sentence,
): Promise<void> {
  await page.route(request.path, (route) => {
    if (route.request().method() !== request.method) return route.fallback();
    return route.fulfill({ status: getStatus(code), json: { error: sentence, code } });
  });
}

async function newMember(visit: VisitContext, settings: object): Promise<string> {
  const id = getId(visit, 'member');
  const { status } = await visit.api.put(`/v2/integrations/${visit.integration}/members/${id}`, settings);
  expectEqual('status of a member', status < 300, true);
  return id;
}

/** A run in a chat of its own, which waits until the model is released. */
async function holdRun({ api, integration }: VisitContext, chatId: string, consumerId: string): Promise<void> {
  const body = { apiIntegrationId: integration, chatId, consumerId, usageRequestId: chatId, message: 'hold on' };
  const reader = await api.complete(body);
  await within('text of the run', WAIT_MS, reader.untilText('while'));
}

const sendAgain = ({ page }: VisitContext) => page.getByRole('button', { name: 'Send again' }).click();

const openRunLink = (page: Page, index: number) =>
  answers(page).nth(index).getByRole('link', { name: 'Open the run' }).waitFor();

async function openPlayground({ open, integration }: VisitContext, member: string): Promise<void> {
  await open(`integrations/${integration}/playground?member=${member}`);
}

/** The API allows three concurrent runs of a member. See `seed.ts`. */
const MAX_RUNS = 3;
/** The client repeats a request that can succeed soon for two minutes. */
const GIVE_UP_MS = 120_000;

const agencyFile = (name: string) => `name: ${name}\nagents: [{ name: Clerk, instructions: You help. }]\n`;

const QUOTA =
  'The files of this integration use 1000 bytes. With this file and the open upload forms they could use 1009, and ' +
  'the quota is 1005; delete files, or wait until unused forms have expired.';

const REFUSED: readonly RefusedRequest[] = [
  {
    name: 'allowance-exhausted',
    code: 'consumer_allowance_exhausted',
    sentence: 'This member has used up the current allowance; wait for resetAt, or raise the limit.',
    advice: 'Raise the allowance of the member, adjust it, or wait for its reset.',
    async refuse(visit) {
      await openPlayground(visit, await newMember(visit, { allowance: { limit: 1 } }));
      await send(visit, 'Hello');
      await openRunLink(visit.page, 0);
      await send(visit, 'Hello again');
    },
    async resume(visit) {
      await newMember(visit, { allowance: { limit: 1_000_000 } });
      await sendAgain(visit);
      await openRunLink(visit.page, 1);
    },
  },
  {
    name: 'too-many-runs',
    code: 'too_many_runs',
    advice: 'Try again in 1 s.',
    // The client looks for a run of its own before it sends the request again.
    alsoSees: [404],
    async refuse(visit) {
      const member = await newMember(visit, {});
      for (let index = 0; index < MAX_RUNS; index += 1) await holdRun(visit, `${member}-${index}`, member);
      await visit.page.clock.install();
      await openPlayground(visit, member);
      const refused = visit.page.waitForResponse((answer) => answer.status() === errors.too_many_runs.status);
      await send(visit, 'Hello');
      await refused;
      await visit.page.getByText('The server has not accepted the message yet.').waitFor();
      await visit.page.clock.fastForward(GIVE_UP_MS);
    },
    async resume(visit) {
      await visit.rig.model.release();
      await sendAgain(visit);
      await openRunLink(visit.page, 0);
    },
  },
  {
    name: 'chat-with-active-run',
    code: 'run_active',
    advice: 'Wait until the run ends, or stop it.',
    async refuse(visit) {
      const { page, integration, seed } = visit;
      const chat = getId(visit, 'chat');
      await holdRun(visit, chat, seed.members[1] as string);
      await visit.open(`integrations/${integration}/chats/${chat}`);
      await page.getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('button', { name: 'Delete chat' }).click();
    },
    async resume({ page, rig }) {
      await rig.model.release();
      await page.getByText('This takes a while. That is all.').waitFor();
      await page.getByRole('button', { name: 'Delete chat' }).click();
      await page.getByRole('heading', { level: 1, name: 'Chats' }).waitFor();
    },
  },
  {
    name: 'agency-unavailable',
    code: 'agency_unavailable',
    advice: 'Try again in 1 min',
    async refuse(visit) {
      const { page, rig } = visit;
      const agency = getId(visit, 'agency');
      rig.agencies.write({ [`${agency}/agency.yaml`]: agencyFile('Office') });
      await untilAgency(visit, agency, isLoaded);
      await visit.open('integrations');
      await page.getByRole('button', { name: 'Create integration' }).click();
      await dialog(page).getByLabel('Name').fill(visit.unique('Office'));
      await dialog(page).getByLabel('Agency').selectOption(agency);
      // Without the earlier version, the server has none that it could use.
      rig.agencies.delete(agency);
      await untilAgency(visit, agency, (found) => found === undefined);
      rig.agencies.write({ [`${agency}/agency.yaml`]: 'agents: 1\n' });
      await untilAgency(visit, agency, (found) => found !== undefined && !isLoaded(found));
      await dialog(page).getByRole('button', { name: 'Create integration' }).click();
    },
    async resume(visit) {
      const { page, rig } = visit;
      const agency = getId(visit, 'agency');
      rig.agencies.write({ [`${agency}/agency.yaml`]: agencyFile('Office') });
      await untilAgency(visit, agency, isLoaded);
      await dialog(page).getByRole('button', { name: 'Create integration' }).click();
      await page.getByRole('heading', { level: 1, name: visit.unique('Office') }).waitFor();
    },
  },
  {
    name: 'erasure-running',
    code: 'erasure_running',
    async refuse(visit) {
      const { page, integration } = visit;
      const id = await newMember(visit, { name: 'Before' });
      await visit.open(`integrations/${integration}/members/${id}`);
      await refuseRequests(page, { method: 'PUT', path: /\/members\/[^/]+$/ }, 'erasure_running');
      await page.getByRole('button', { name: 'Change', exact: true }).click();
      await dialog(page).getByLabel('Name').fill('After');
      await dialog(page).getByRole('button', { name: 'Save' }).click();
    },
    async resume({ page }) {
      await dialog(page).getByRole('button', { name: 'Save' }).click();
      await page.getByRole('heading', { level: 1, name: 'After' }).waitFor();
    },
  },
  {
    name: 'mount-quota',
    code: 'mount_quota_exceeded',
    sentence: QUOTA,
    place: (page) => page.getByRole('listitem').filter({ hasText: 'quota.txt' }),
    async refuse(visit) {
      const { page, integration, seed } = visit;
      await visit.open(`integrations/${integration}/files?folder=${seed.folder}`);
      const signing = { method: 'POST', path: /\/create_agency_upload$/ };
      await refuseRequests(page, signing, 'mount_quota_exceeded', QUOTA);
      await page.getByRole('button', { name: 'Upload files' }).click();
      await dialog(page)
        .getByLabel('Folder')
        .fill(`/app/mnt/${getId(visit, 'folder')}`);
      const file = { name: 'quota.txt', mimeType: 'text/plain', buffer: Buffer.from('Too much.') };
      await dialog(page).getByLabel('Files').setInputFiles(file);
      await dialog(page).getByRole('button', { name: 'Upload' }).click();
    },
    async resume(visit) {
      const { page, api, integration } = visit;
      await page.getByRole('button', { name: 'Try again to upload quota.txt' }).click();
      await page.getByText('1 file uploaded.', { exact: true }).waitFor();
      const query = new URLSearchParams({ path: `/app/mnt/${getId(visit, 'folder')}`, recursive: 'true' });
      expectEqual('status', (await api.delete(`/v2/integrations/${integration}/files?${query}`)).status < 300, true);
    },
  },
  {
    name: 'csv',
    code: 'internal_error',
    advice: 'This is a fault of the server. Its log has the cause.',
    async refuse(visit) {
      const { page, integration } = visit;
      await visit.open(`integrations/${integration}/usage`);
      await refuseRequests(page, { method: 'GET', path: /\/usage\?.*format=csv/ }, 'internal_error');
      await page.getByRole('button', { name: 'Download CSV' }).click();
    },
    async resume({ page }) {
      const downloading = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Download CSV' }).click();
      expectEqual('end of the file name', (await downloading).suggestedFilename().endsWith('.csv'), true);
    },
  },
];

function toVisit({ name, code, advice, alsoSees = [], ...refused }: RefusedRequest): ConsoleVisit {
  const { sentence = errors[code].sentence, place = (page: Page) => page.getByRole('alert') } = refused;
  return {
    name: `refused-${name}`,
    async run(visit) {
      const { page } = visit;
      await visit.expectRefusal([getStatus(code), ...alsoSees], async () => {
        await refused.refuse(visit);
        // The page shows code of the sentence without its backticks.
        const shown = place(page)
          .filter({ hasText: sentence.replaceAll('`', '') })
          .filter({ hasText: code });
        await (advice === undefined ? shown : shown.filter({ hasText: advice })).waitFor();
      });
      await visit.checkPage(`refused-${name}`);
      await page.unrouteAll();
      await refused.resume(visit);
    },
  };
}

/** Its refusal is shown for a moment, so it is no entry of the table. */
const download: ConsoleVisit = {
  name: 'refused-download',
  async run(visit) {
    const { page, api, integration } = visit;
    const path = `/app/mnt/${getId(visit, 'folder')}/gone.txt`;
    const stored = { apiIntegrationId: integration, ...at(path) };
    await upload(api, 'one', stored);
    await visit.open(`integrations/${integration}/files?${new URLSearchParams({ file: path })}`);
    const button = dialog(page).getByRole('button', { name: 'Download gone.txt' });
    await dialog(page).getByText('one', { exact: true }).waitFor();
    const file = `/v2/integrations/${integration}/files?${new URLSearchParams({ path })}`;
    expectEqual('status of a deletion', (await api.delete(file)).status, 204);
    await visit.expectRefusal(404, async () => {
      await button.click();
      await page.getByText(errors.file_not_found.sentence).first().waitFor();
    });
    await visit.checkPage('refused-download');
    await upload(api, 'two', stored);
    const downloading = page.waitForEvent('download');
    await button.click();
    expectEqual('name of the download', (await downloading).suggestedFilename(), 'gone.txt');
    await api.delete(file);
  },
};

/** After an upgrade the server does not have the scripts of the page that is open. */
const lostScript: ConsoleVisit = {
  name: 'refused-script',
  async run(visit) {
    const { page } = visit;
    await visit.open('integrations');
    let isReloaded = false;
    page.on('request', (request) => {
      isReloaded ||= request.isNavigationRequest();
    });
    await page.route(/\/console\/assets\/health-page-[^/]*\.js$/, (route) =>
      isReloaded ? route.fallback() : route.fulfill({ status: 404 }),
    );
    await visit.expectRefusal(404, () => chooseInMenu(page, 'Health'));
    await page.getByRole('heading', { name: 'Running nodes' }).waitFor();
    expectEqual('the page was reloaded', isReloaded, true);
    await visit.checkPage('refused-script');
  },
};

export const refusalVisits: readonly ConsoleVisit[] = [...REFUSED.map(toVisit), download, lostScript];
