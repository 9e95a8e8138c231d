import { expectEqual, until } from '@runwire/test-kit/shortfall.ts';
import type { Page } from 'playwright-core';
import { alert } from '../steps.ts';
import type { ConsoleVisit, VisitContext } from '../visit.ts';
import { copied } from './copied.ts';

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const dialog = (page: Page) => page.getByRole('dialog');
const title = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name }).waitFor();
const getSchedules = ({ integration }: VisitContext) => `integrations/${integration}/schedules`;

/** Creates a schedule past the page. Resolves to its id. */
async function addSchedule(visit: VisitContext, fields: object): Promise<string> {
  const { status, body } = await visit.api.post(`/v2/${getSchedules(visit)}`, fields);
  expectEqual('status of a schedule', status, 201);
  return body.scheduleId;
}

/** Ticks that are as near to each other as they may be. */
const OFTEN = { cron: '*/10 * * * * *' };

/** Resolves when the schedule has a tick. */
async function untilTick(visit: VisitContext, scheduleId: string): Promise<void> {
  await until('a tick', async () => {
    const { body } = await visit.api.get(`/v2/${getSchedules(visit)}/${scheduleId}/ticks`);
    return body.items.length > 0;
  });
  // The next tick would change the page while it is checked.
  await visit.api.patch(`/v2/${getSchedules(visit)}/${scheduleId}`, { active: false });
}

const remove = (visit: VisitContext, scheduleId: string) =>
  visit.api.delete(`/v2/${getSchedules(visit)}/${scheduleId}`);

export const scheduleVisits: readonly ConsoleVisit[] = [
  {
    name: 'schedules',
    async run(visit) {
      const { page } = visit;
      await visit.open(`integrations/${visit.seed.otherIntegration}/schedules`);
      await page.getByRole('heading', { name: 'No schedules yet' }).waitFor();
      await visit.checkPage('schedules-empty');
      await button(page, 'Create schedule').click();
      await dialog(page).getByLabel('Name', { exact: true }).fill(visit.unique('Weekly'));
      await dialog(page).getByLabel('Cron pattern').fill('0 9 * *');
      await dialog(page).getByLabel('Time zone').fill('Europe/Berlin');
      await dialog(page).getByLabel('Message').fill('Write the report for {{tick}}.');
      await dialog(page).getByLabel('Other fields of the request').fill('{"message": "Twice"}');
      await button(page, 'Create schedule').last().click();
      await alert(page, 'Leave message out of the JSON');
      await dialog(page).getByLabel('Other fields of the request').fill('{"user_context": "Weekly"}');
      await visit.expectRefusal(400, () => button(page, 'Create schedule').last().click());
      await alert(page, /cron/);
      await visit.checkPage('schedule-refused');
      await dialog(page).getByLabel('Cron pattern').fill('0 9 * * 1');
      await button(page, 'Create schedule').last().click();
      await title(page, visit.unique('Weekly'));
      await page.getByRole('region', { name: 'request' }).getByText('"Weekly"').waitFor();
      const expected = { message: 'Write the report for {{tick}}.', user_context: 'Weekly' };
      expectEqual('the request', JSON.parse(await copied(page, 'request')), expected);
      await page.getByText('No tick has passed yet.').waitFor();
      await visit.checkPage('schedule');
      await button(page, 'Pause').click();
      await page.getByText('Ticks that pass now are not run later').waitFor();
      await visit.checkPage('schedule-paused');
      await button(page, 'Resume').click();
      await button(page, 'Pause').waitFor();
      await button(page, 'Run now').click();
      await page.getByText('It is no tick').waitFor();
      await visit.checkPage('schedule-run');
      await button(page, 'Change').click();
      await dialog(page).getByLabel('When').selectOption('At an interval');
      await dialog(page).getByLabel('Seconds between two ticks').fill('300');
      await dialog(page).getByLabel('Name', { exact: true }).fill(visit.unique('Often'));
      await visit.checkPage('schedule-change');
      await button(page, 'Save').click();
      await title(page, visit.unique('Often'));
      await page.getByText('every 5 minutes', { exact: true }).waitFor();
      await button(page, 'Change').click();
      await dialog(page).getByLabel('When').selectOption('Once');
      await button(page, 'Save').click();
      await alert(page, 'Choose the time of the tick.');
      await dialog(page).getByLabel('Time, in your zone').fill('2999-01-31T09:00');
      await visit.checkPage('schedule-once');
      await button(page, 'Save').click();
      await page.getByText('once, 31 Jan 2999').waitFor();
      await page.getByRole('link', { name: /^run_/ }).click();
      await title(page, /^Run of /);
      await page.goBack();
      await button(page, 'Delete').click();
      await visit.checkPage('schedule-delete');
      await button(page, 'Delete schedule').click();
      await page.getByRole('heading', { name: 'No schedules yet' }).waitFor();
    },
  },
  {
    name: 'schedule-ticks',
    async run(visit) {
      const { page, seed } = visit;
      const message = 'Where is my order?';
      const served = { message, consumerId: seed.members[21] };
      const scheduleId = await addSchedule(visit, { ...OFTEN, name: visit.unique('Served'), request: served });
      // Every seventh member is not active.
      const refused = { message, consumerId: seed.members[6] };
      const refusedId = await addSchedule(visit, { ...OFTEN, name: visit.unique('Refused'), request: refused });
      await Promise.all([untilTick(visit, scheduleId), untilTick(visit, refusedId)]);
      await visit.open(`${getSchedules(visit)}/${refusedId}`);
      await page.getByRole('row').filter({ hasText: 'consumer_inactive' }).first().waitFor();
      await page.getByText('The newest tick was refused.').waitFor();
      await visit.expectRefusal(429, () => button(page, 'Run now').click());
      await alert(page, 'consumer_inactive');
      await visit.checkPage('schedule-refusals');
      await visit.rig.ask(
        `update schedules set paused_reason = '10 ticks in a row were refused, or their runs failed.' where schedule_id = '${refusedId}'`,
      );
      await visit.open(getSchedules(visit));
      const row = page.getByRole('row').filter({ hasText: visit.unique('Refused') });
      await row.getByText('paused', { exact: true }).waitFor();
      await visit.checkPage('schedules');
      await row.getByRole('link').click();
      await page.getByText('The server paused the schedule.').waitFor();
      await visit.checkPage('schedule-paused-by-server');
      await visit.open(`${getSchedules(visit)}/${scheduleId}`);
      await visit.checkPage('schedule-ticks');
      await page.getByRole('link', { name: /^run_/ }).first().click();
      await title(page, /^Run of /);
      await remove(visit, scheduleId);
      await remove(visit, refusedId);
      await visit.expectRefusal(404, () => visit.open(`${getSchedules(visit)}/${scheduleId}`));
      await alert(page, 'schedule_not_found');
      await visit.checkPage('schedule-not-found');
    },
  },
];
