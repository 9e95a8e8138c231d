import { expectEqual, until } from '@runwire/test-kit/shortfall.ts';
import type { Page } from 'playwright-core';
import { alert } from '../steps.ts';
import type { ConsoleVisit, VisitContext } from '../visit.ts';
import { copied } from './copied.ts';

/** No host has this name, so every attempt fails. */
const NOWHERE = 'https://receiver.invalid/hook';

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const dialog = (page: Page) => page.getByRole('dialog');
const title = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name }).waitFor();
const getWebhooks = ({ integration }: VisitContext) => `integrations/${integration}/webhooks`;

/** Adds an endpoint past the page. Resolves to its id. */
async function addEndpoint(visit: VisitContext, fields: object): Promise<string> {
  const { status, body } = await visit.api.post(`/v2/${getWebhooks(visit)}`, fields);
  expectEqual('status of an endpoint', status, 201);
  return body.endpointId;
}

const remove = (visit: VisitContext, endpointId: string) => visit.api.delete(`/v2/${getWebhooks(visit)}/${endpointId}`);

/** Opens the page of an endpoint whose row has these values, which only many failures cause. */
async function openDisabled(visit: VisitContext, endpointId: string, reason: 'gone' | 'failing'): Promise<void> {
  const failingSince = Date.now() - 80 * 3_600_000;
  const values = `active = 0, disabled_reason = '${reason}', failing_since = ${failingSince}`;
  await visit.rig.ask(`update webhook_endpoints set ${values} where endpoint_id = '${endpointId}'`);
  await visit.open(`${getWebhooks(visit)}/${endpointId}`);
}

export const webhookVisits: readonly ConsoleVisit[] = [
  {
    name: 'webhooks',
    async run(visit) {
      const { page } = visit;
      const other = `integrations/${visit.seed.otherIntegration}/webhooks`;
      await visit.open(other);
      await page.getByRole('heading', { name: 'No endpoints yet' }).waitFor();
      await visit.checkPage('webhooks-empty');
      await button(page, 'Add endpoint').click();
      await dialog(page).getByLabel('Address').fill('http://127.0.0.1:1/hook');
      await dialog(page).getByLabel('Only these').check();
      await visit.checkPage('webhook-add');
      await button(page, 'Add endpoint').last().click();
      await alert(page, 'Choose at least one type of event.');
      await dialog(page).getByLabel('run.completed').check();
      await visit.expectRefusal(400, () => button(page, 'Add endpoint').last().click());
      await alert(page, 'must be an https URL that receives webhooks');
      await visit.checkPage('webhook-refused');
      await dialog(page).getByLabel('Address').fill(NOWHERE);
      await dialog(page).getByLabel('Description').fill(visit.unique('Ours'));
      await button(page, 'Add endpoint').last().click();
      const secret = page.getByRole('dialog', { name: 'The secret of the endpoint' });
      const text = (await secret.getByRole('region', { name: 'secret' }).innerText()).trim();
      expectEqual('the form of the secret', /^whsec_\S+$/.test(text), true);
      await visit.checkPage('webhook-secret');
      await button(page, 'Done').click();
      await title(page, visit.unique('Ours'));
      expectEqual('places that show the secret after that', await page.getByText(text).count(), 0);
      await button(page, 'Pause').click();
      await page.getByText('The endpoint is paused.', { exact: true }).first().waitFor();
      await button(page, 'Send test').click();
      const row = page.getByRole('row').filter({ hasText: 'webhook.test' });
      await row.getByText('skipped').waitFor();
      await visit.checkPage('webhook-paused');
      await button(page, 'Activate').click();
      await button(page, 'Pause').waitFor();
      await button(page, 'Replay a period').click();
      await visit.checkPage('webhook-replay');
      await dialog(page).getByLabel('Type').selectOption('webhook.test');
      await button(page, 'Replay').click();
      await page.getByText('1 event will be sent once more.').first().waitFor();
      await page.getByRole('row').filter({ hasText: 'pending' }).waitFor();
      await visit.checkPage('webhook-pending');
      await button(page, 'Change').click();
      await dialog(page).getByLabel('Description').fill(visit.unique('Theirs'));
      await dialog(page).getByLabel('All, also types of later versions').check();
      await visit.checkPage('webhook-change');
      await button(page, 'Save').click();
      await title(page, visit.unique('Theirs'));
      await button(page, 'Delete').click();
      await visit.checkPage('webhook-delete');
      await button(page, 'Delete endpoint').click();
      await page.getByRole('heading', { name: 'No endpoints yet' }).waitFor();
    },
  },
  {
    name: 'webhook-deliveries',
    async run(visit) {
      const { page, api } = visit;
      const endpointId = await addEndpoint(visit, { url: null, description: visit.unique('Read') });
      const path = `/v2/${getWebhooks(visit)}/${endpointId}`;
      // An endpoint counts for what ends 5 s after its answer; until then its events may be missing.
      let attempts = 0;
      const ended = async () => {
        attempts += 1;
        const ids = { consumerId: visit.seed.members[22], usageRequestId: visit.unique(`run ${attempts}`) };
        const request = { apiIntegrationId: visit.integration, ...ids, message: 'Hello' };
        await (await api.complete(request)).whole();
        const { body } = await api.get(`${path}/deliveries`);
        return body.items.length > 0;
      };
      await until('the event of a run', ended);
      const test = (await api.post(`${path}/test`, {})).body;
      await visit.open(`${getWebhooks(visit)}/${endpointId}`);
      await page.getByRole('link', { name: /^webhook\.test/ }).waitFor();
      await visit.checkPage('webhook-deliveries');
      await page.getByLabel('Type').selectOption('run.failed');
      await page.getByText('No delivery matches the filters.').waitFor();
      await page.getByLabel('Type').selectOption('webhook.test');
      await page
        .getByRole('status')
        .filter({ hasText: /^1 delivery$/ })
        .waitFor();
      expectEqual('type in the address', new URL(page.url()).searchParams.get('type'), 'webhook.test');
      await page.getByRole('link', { name: /^webhook\.test/ }).click();
      await title(page, 'webhook.test');
      await page.getByRole('region', { name: 'body' }).getByText(`"${endpointId}"`).waitFor();
      expectEqual('the body', JSON.parse(await copied(page, 'body')).data.endpointId, endpointId);
      await visit.checkPage('webhook-delivery');
      await button(page, 'Send once more').click();
      await page.getByText('This is the new delivery of the same event.').first().waitFor();
      await page.getByText(test.eventId).waitFor();
      expectEqual('another delivery', page.url().endsWith(test.deliveryId), false);
      await page.getByRole('link', { name: 'All deliveries' }).click();
      await page
        .getByRole('status')
        .filter({ hasText: /^[3-9]\d* deliveries$/ })
        .waitFor();
      await page
        .getByRole('link', { name: /^run\.completed/ })
        .first()
        .click();
      await title(page, 'run.completed');
      await page.getByRole('link', { name: /^run_/ }).click();
      await title(page, /^Run of /);
      await remove(visit, endpointId);
      await visit.expectRefusal(404, () => visit.open(`${getWebhooks(visit)}/${endpointId}`));
      await alert(page, /no webhook endpoint with this id/);
      await visit.checkPage('webhook-not-found');
    },
  },
  {
    name: 'webhook-states',
    async run(visit) {
      const { page, api } = visit;
      const endpointId = await addEndpoint(visit, { url: NOWHERE, description: visit.unique('Down') });
      await api.post(`/v2/${getWebhooks(visit)}/${endpointId}/test`, {});
      const isFailing = async () => {
        const { body } = await api.get(`/v2/${getWebhooks(visit)}/${endpointId}`);
        return body.failingSince !== null;
      };
      await until('a failure', isFailing);
      await visit.open(`${getWebhooks(visit)}/${endpointId}`);
      await page.getByText('The receiver does not accept events.').waitFor();
      await visit.checkPage('webhook-failing');
      await page.getByRole('link', { name: /^webhook\.test/ }).click();
      await title(page, 'webhook.test');
      await page.getByText('There was no answer.').waitFor();
      await visit.checkPage('webhook-delivery-failing');
      for (const [reason, sentence] of [
        ['gone', 'because its receiver answered 410'],
        ['failing', 'after 72 hours of failures'],
      ] as const) {
        await openDisabled(visit, endpointId, reason);
        await page.getByText(sentence).waitFor();
        await visit.checkPage(`webhook-disabled-${reason}`);
      }
      await visit.open(getWebhooks(visit));
      await page
        .getByRole('row')
        .filter({ hasText: visit.unique('Down') })
        .getByText('disabled')
        .waitFor();
      await visit.checkPage('webhooks');
      await page.getByRole('link', { name: visit.unique('Down') }).click();
      await button(page, 'Rotate secret').click();
      await visit.checkPage('webhook-rotate');
      await dialog(page).getByRole('button', { name: 'Rotate secret' }).click();
      await page.getByRole('dialog', { name: 'The new secret' }).getByText('whsec_').waitFor();
      await visit.checkPage('webhook-rotated');
      await button(page, 'Done').click();
      await remove(visit, endpointId);
    },
  },
];
