import { expectEqual, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import { alert, isLoaded, toast, untilAgency } from '../steps.ts';
import type { ConsoleVisit } from '../visit.ts';

const AGENCY = `name: Lasting
entryPoints: [Triage]
agents:
  - { name: Triage, description: Finds out what the user needs., instructions: You ask. }
  - { name: Billing, description: Invoices., instructions: You answer. }
flows:
  - { from: Triage, to: Billing, kind: handoff, lasts: chat }
  - Billing => Triage
`;

const STATE = { plan: 'free', cart: { items: [{ article: 'pen', count: 2 }], coupon: { code: 'A-1', used: false } } };

/** A person reads and edits what tools keep in a chat, also while a run is active. */
export const chatStateVisit: ConsoleVisit = {
  name: 'chat-state',
  async run(visit) {
    const { api, page, rig, unique } = visit;
    const id = unique('lasting').replaceAll(' ', '-');
    rig.agencies.write({ [`${id}/agency.yaml`]: AGENCY });
    await untilAgency(visit, id, isLoaded);
    await api.post('/v2/integrations', { apiIntegrationId: id, name: 'Lasting', agency: id });
    const send = (message: string) => api.complete({ apiIntegrationId: id, chatId: 'c', message });
    const team = await send('team please');
    await within('end of a run', WAIT_MS, team.over);
    const path = `/v2/integrations/${id}/chats/c/state`;
    await api.patch(path, STATE);

    await visit.open(`agencies/${id}`);
    await page.getByText("Hand-off that lasts: the chat's next runs begin with the other agent").waitFor();
    await page.getByRole('row', { name: 'Triage Hand-off lasts Billing' }).waitFor();
    await page.getByRole('row', { name: 'Billing Hand-off Triage' }).waitFor();
    await visit.checkPage('agency-lasting');

    await visit.open(`integrations/${id}/chats/c`);
    const shown = page.getByRole('region', { name: 'State of the chat' });
    await shown.getByText(/^Runs whose requests name no agent begin with Billing/).waitFor();
    const tree = shown.getByRole('region', { name: 'state', exact: true });
    await tree.getByText('coupon:').waitFor();
    await tree.getByText('coupon:').click();
    await tree.getByText('"A-1"').waitFor();
    await visit.checkPage('chat-state');

    await page.getByRole('button', { name: 'Edit state' }).click();
    const dialog = page.getByRole('dialog', { name: 'Edit the state of the chat' });
    const field = dialog.getByLabel('State', { exact: true });
    expectEqual('the state to edit', JSON.parse(await field.inputValue()), STATE);
    await visit.checkPage('chat-state-edit');
    const save = dialog.getByRole('button', { name: 'Save state' });
    await field.fill('{"plan": "pro",}');
    await save.click();
    await alert(page, 'The state is not valid JSON');
    expectEqual('the wrong field has the focus', await field.evaluate((it) => it.matches(':focus')), true);
    await visit.checkPage('chat-state-wrong');
    await field.fill('{"plan": "pro", "cart": {"coupon": null}}');
    await save.click();
    await alert(page, '`cart.coupon` is null'.replaceAll('`', ''));
    await field.fill(JSON.stringify({ large: 'x'.repeat(70_000) }));
    await visit.expectRefusal(400, async () => {
      await save.click();
      await alert(page, 'at most 65536 are allowed');
    });

    const draft = '{"plan": "pro", "cart": {"items": []}}';
    await field.fill(draft);
    const held = await send('hold on');
    await within('text of the run', WAIT_MS, held.untilText('while'));
    await visit.expectRefusal(409, async () => {
      await save.click();
      await alert(page, 'A run of this chat is active');
    });
    expectEqual('the draft', await field.inputValue(), draft);
    await visit.checkPage('chat-state-busy');
    await rig.model.release();
    await within('end of the held run', WAIT_MS, held.over);
    await api.patch(path, { other: 'kept' });
    await save.click();
    await toast(page, 'The state is saved.');
    await tree.getByText('"pro"').waitFor();
    const { body } = await api.get(path);
    expectEqual('the state', body, { plan: 'pro', cart: { items: [] }, other: 'kept' });
    await api.delete(`/v2/integrations/${id}`);
    rig.agencies.delete(id);
    await untilAgency(visit, id, (found) => found === undefined);
  },
};
