import { expectEqual } from '@runwire/test-kit/shortfall.ts';
import { isLoaded, untilAgency } from '../steps.ts';
import type { ConsoleVisit, VisitContext } from '../visit.ts';

/** Longer than the time after which the page reads the agencies again. */
const REFRESH_MS = 25_000;

const getId = ({ unique }: VisitContext, name: string) => unique(name).replaceAll(' ', '-');

const oneAgent = (name: string) => `name: Changing\nagents: [{ name: ${name}, instructions: You help. }]\n`;

/** A tree of agents, in which every fifth hands back to an earlier one. */
function manyAgents(count: number): string {
  const agents = Array.from({ length: count }, (_, index) => `Desk ${index}`);
  const lines = agents.map((name) => `  - { name: ${name}, description: One of many., instructions: You help. }`);
  const flows = agents.slice(1).flatMap((name, index) => {
    const parent = agents[Math.floor(index / 3)];
    return [
      `  - ${parent} ${index % 2 === 0 ? '=>' : '->'} ${name}`,
      ...(index % 5 === 4 ? [`  - ${name} => Desk 0`] : []),
    ];
  });
  return `name: Large\nentryPoints: [Desk 0]\nagents:\n${lines.join('\n')}\nflows:\n${flows.join('\n')}\n`;
}

const TILL_TOOLS = `export const open_till = {
  inputSchema: { type: 'object' },
  execute: () => new Promise(() => setTimeout(() => { throw new Error('The till is stuck.'); }, 1)),
};
export const close_till = { inputSchema: { type: 'object' }, execute: () => 'Closed.', isEnabled: () => false };
`;

/**
 * A tool ends its agency's process, and another is hidden. The pages show the new process, what happened and what the model did not
 * see.
 */
export const processFaultVisit: ConsoleVisit = {
  name: 'agency-process-fault',
  async run(visit) {
    const { api, page, rig } = visit;
    const id = getId(visit, 'till');
    const clerk = '{ name: Clerk, instructions: You help., tools: [open_till, close_till] }';
    rig.agencies.write({
      [`${id}/tools.ts`]: TILL_TOOLS,
      [`${id}/agency.yaml`]: `name: Till\ntoolFiles: [./tools.ts]\nagents: [${clerk}]\n`,
    });
    await untilAgency(visit, id, isLoaded);
    await api.post('/v2/integrations', { apiIntegrationId: id, agency: id });
    const answer = await api.post('/get_completion_v2', { apiIntegrationId: id, message: 'tool open_till {}' });
    await untilAgency(visit, id, (found) => found?.process?.restarts === 1 && found.process.state === 'running');
    await visit.open(`agencies/${id}`);
    const shown = page.getByRole('region', { name: 'Process', exact: true });
    await shown.getByText('The till is stuck.').waitFor();
    const [state, memory, restarts, pid, , tool, call = '', runId] = await shown
      .getByRole('definition')
      .allInnerTexts();
    const run = answer.headers.get('x-run-id');
    expectEqual('process, tool and run', [state, restarts, tool, runId], ['running', '1', 'open_till', run]);
    expectEqual('the call', /^call_/.test(call), true);
    const tools = page.getByRole('region', { name: 'Tools', exact: true }).getByRole('listitem');
    const conditional = tools.filter({ hasText: 'conditional' });
    expectEqual('tools that can be hidden', await conditional.locator('code').allInnerTexts(), ['close_till']);
    expectEqual('memory and process id', /^(not measured|[\d.]+ MB) \d+$/.test(`${memory} ${pid}`), true);
    await visit.open(`integrations/${id}/runs/${run}?step=1`);
    await page.getByText('Hidden in this step: close_till', { exact: true }).waitFor();
    await api.delete(`/v2/integrations/${id}`);
    rig.agencies.delete(id);
    await untilAgency(visit, id, (found) => found === undefined);
  },
};

export const agencyVisits: readonly ConsoleVisit[] = [
  processFaultVisit,
  {
    name: 'agencies',
    async run(visit) {
      const { page } = visit;
      await visit.open('agencies');
      const broken = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'returns' }) });
      await broken.getByText('broken').waitFor();
      await visit.checkPage('agencies');
      await page.getByRole('link', { name: 'Support' }).click();
      await page.getByRole('heading', { level: 1, name: 'Support' }).waitFor();
      await page.getByRole('heading', { name: 'Triage' }).waitFor();
      await visit.checkPage('agency');
    },
  },
  {
    name: 'agency-by-keyboard',
    async run(visit) {
      const { page } = visit;
      await visit.open('agencies/support');
      const node = page.getByRole('button', { name: /^Billing/ });
      await node.focus();
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Billing' }).waitFor();
      expectEqual('the chosen agent', await node.getAttribute('aria-pressed'), 'true');
      expectEqual('the agent in the address', new URL(page.url()).searchParams.get('agent'), 'Billing');
      const refund = page.getByRole('listitem').filter({ hasText: 'refund' });
      await refund.getByText('asks for approval').waitFor();
      await refund.getByText('Pays money back. A person must approve it.').waitFor();
      await refund.locator('summary').first().click();
      await page.getByRole('region', { name: 'arguments of refund' }).getByText('cents:').waitFor();
      const instructions = page.getByRole('region', { name: 'Instructions' });
      await instructions.getByText('Answer in the language of the user.').waitFor();
      await instructions.getByText('You answer questions about invoices.').waitFor();
      await page.getByRole('row', { name: 'Triage Delegation Research' }).waitFor();
      const code = page.getByRole('region', { name: 'Process', exact: true });
      await code.getByText('running', { exact: true }).waitFor();
      const servers = page.getByRole('region', { name: 'MCP servers' }).getByRole('listitem');
      await servers.filter({ hasText: 'warehouse' }).getByText('connected', { exact: true }).waitFor();
      await servers.filter({ hasText: 'carrier' }).getByText('failed', { exact: true }).waitFor();
      await visit.checkPage('agency-agent');
    },
  },
  {
    name: 'agency-use',
    async run(visit) {
      const { page, seed } = visit;
      await visit.open('agencies/support');
      await page.getByRole('button', { name: /^Triage entry point \d+ runs, \d+ failed$/ }).waitFor();
      const row = page.getByRole('row', { name: 'Web shop' });
      await row.getByText(/\d+ runs, \d+ failed/).waitFor();
      const graph = page.getByRole('group', { name: 'Choose an agent to see its details' });
      const width = async () => Math.round((await graph.boundingBox())?.width ?? 0);
      const fitting = await width();
      await page.getByRole('button', { name: 'Larger' }).click();
      expectEqual('the graph is larger', (await width()) > fitting, true);
      await page.getByRole('button', { name: 'Fit to width' }).click();
      expectEqual('the graph fits again', await width(), fitting);
      await row.getByRole('link', { name: 'Open the playground of Web shop' }).click();
      await page.waitForURL(`**/integrations/${seed.integration}/playground?agent=Triage**`);
    },
  },
  {
    name: 'agency-broken',
    async run(visit) {
      await visit.open('agencies/returns');
      await visit.page.getByText('agency.yaml:6:5').waitFor();
      await visit.checkPage('agency-broken');
    },
  },
  {
    name: 'agency-changes',
    async run(visit) {
      const { page, rig } = visit;
      const id = getId(visit, 'changing');
      const write = (text: string) => rig.agencies.write({ [`${id}/agency.yaml`]: text });
      write(oneAgent('Clerk'));
      await untilAgency(visit, id, isLoaded);
      await visit.open(`agencies/${id}`);
      await page.getByRole('button', { name: /^Clerk/ }).waitFor();
      await visit.checkPage('agency-of-one');
      write(oneAgent('Bookkeeper'));
      await page.getByRole('button', { name: /^Bookkeeper/ }).waitFor({ timeout: REFRESH_MS });
      write('name: Changing\nagents: [{ name: Bookkeeper }]\n');
      await page.getByText(/agency\.yaml:2:/).waitFor({ timeout: REFRESH_MS });
      // The fault has appeared above the agents, so they have moved. A page that is opened now must be calm.
      await visit.open(`agencies/${id}`);
      await page.getByText('Runs use the last version').waitFor();
      await visit.checkPage('agency-broken-with-old-version');
      rig.agencies.delete(id);
      await page.getByText('no agency with this id').waitFor({ timeout: REFRESH_MS });
      await visit.checkPage('agency-gone');
    },
  },
  {
    name: 'agency-large',
    async run(visit) {
      const { page, rig } = visit;
      const id = getId(visit, 'large');
      rig.agencies.write({ [`${id}/agency.yaml`]: manyAgents(40) });
      await untilAgency(visit, id, isLoaded);
      await visit.open(`agencies/${id}`);
      await page.getByRole('button', { name: 'Desk 39' }).click();
      await page.getByRole('heading', { name: 'Desk 39' }).waitFor();
      await visit.checkPage('agency-large');
      rig.agencies.delete(id);
      await untilAgency(visit, id, (found) => found === undefined);
    },
  },
];
