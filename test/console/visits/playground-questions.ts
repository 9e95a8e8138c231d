import type { Step } from '@runwire/client';
import type { StreamReader } from '@runwire/test-kit';
import { expectEqual, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import { isLoaded, untilAgency } from '../steps.ts';
import type { ConsoleVisit } from '../visit.ts';
import {
  announced,
  answers,
  ended,
  getRunId,
  newIntegration,
  openPlayground,
  send,
  sentMessages,
  toEnd,
} from './playground.ts';

const questions: ConsoleVisit = {
  name: 'playground-questions',
  async run(visit) {
    const { page } = visit;
    await openPlayground(visit, { member: visit.seed.members[1] as string, agent: 'Billing' });
    await send(visit, 'tool refund {"order":"A-1","cents":9900}');
    await page.getByText('Approve the call of refund?').waitFor();
    await announced(visit, 'The agent asks a question.');
    await visit.checkPage('playground-question');
    await page.reload();
    await page.getByLabel('Reason (optional)').fill('A customer of many years.');
    await page.getByRole('button', { name: 'Approve' }).click();
    const decided = sentMessages(page).getByRole('list', { name: 'Answers' });
    const sentence = /^Approved refund by .+: A customer of many years\.$/;
    await decided.getByText(sentence).waitFor();
    await ended(visit, 2);
    for (const isReloaded of [false, true]) {
      if (isReloaded) await page.reload();
      await decided.getByText(sentence).waitFor();
      await answers(page).last().getByText('Tool refund').click();
      await answers(page).last().getByRole('group', { name: 'output of refund' }).getByText('refunded').waitFor();
    }
    await toEnd(visit);
    await send(visit, 'tool refund {"order":"A-2","cents":100}');
    await page.getByRole('button', { name: 'Decline' }).click();
    await answers(page).last().getByText('Declined by the user').waitFor();
    await visit.checkPage('playground-declined');
  },
};

const twoQuestions: ConsoleVisit = {
  name: 'playground-two-questions',
  async run(visit) {
    const { page, api, integration } = visit;
    await openPlayground(visit, { member: visit.seed.members[8] as string, agent: 'Billing' });
    await send(visit, 'tool refund {"order":"A-3","cents":300}\ntool refund {"order":"A-4","cents":400}');
    const asked = page.getByRole('group', { name: 'Approve the call of refund?' });
    const declined = asked.filter({ hasText: 'A-4' });
    await declined.getByLabel('Decision').selectOption('Decline');
    await declined.getByLabel('Reason (optional)').fill('A-4 was paid back in May.');
    expectEqual('questions', await asked.count(), 2);
    await toEnd(visit);
    await visit.checkPage('playground-two-questions');
    await page.getByRole('button', { name: 'Send answers' }).click();
    const decided = sentMessages(page).getByRole('list', { name: 'Answers' }).getByRole('listitem');
    await decided.filter({ hasText: /^Approved refund by/ }).waitFor();
    await decided.filter({ hasText: /^Declined refund by .+: A-4 was paid back in May\.$/ }).waitFor();
    await ended(visit, 2);
    expectEqual('questions after the answers', await asked.count(), 0);
    const runId = await getRunId(answers(page).last().getByRole('link', { name: 'Open the run' }));
    const events = await api.events(runId, null, integration);
    await within('events of the answered run', WAIT_MS, events.over);
    expectEqual('outcomes of the calls', outputsIn(events).toSorted(), [
      'Declined by the user: A-4 was paid back in May.',
      '{"order":"A-3","cents":300,"refunded":true}',
    ]);
  },
};

/** What the calls of a run returned to the model. */
const outputsIn = ({ frames }: StreamReader): readonly string[] =>
  frames
    .filter(({ event, data }) => event === null && data.includes('"name":"tool_output"'))
    .map(({ data }) => JSON.parse(data).data.item.output);

const POSITION = {
  'agency.yaml':
    'name: Guide\ntoolFiles: [./tools.ts]\nagents: [{ name: Guide, instructions: You help., tools: [position] }]\n',
  'tools.ts': `import { defineTool } from '@runwire/agency';

const inputSchema = { type: 'object' };
export const position = defineTool({ name: 'position', description: 'Tells where the user is.', inputSchema });
`,
};

const clientTool: ConsoleVisit = {
  name: 'playground-client-tool',
  async run(visit) {
    const { page, rig, api } = visit;
    const agency = visit.unique('guide').replaceAll(' ', '-');
    rig.agencies.write(Object.fromEntries(Object.entries(POSITION).map(([file, text]) => [`${agency}/${file}`, text])));
    await untilAgency(visit, agency, isLoaded);
    const integration = await newIntegration(visit, 'guide', agency);
    await openPlayground({ ...visit, integration });
    await send(visit, 'tool position');
    const asked = page.getByRole('group', { name: 'Give the output of position?' });
    await asked.getByLabel('Output').fill('{"city":"Turin"}');
    await visit.checkPage('playground-client-tool');
    await page.getByRole('button', { name: 'Send answers' }).click();
    await sentMessages(page).getByText('Output for').waitFor();
    await ended(visit, 2);
    await answers(page).last().getByText('{"city":"Turin"}').waitFor();
    await send(visit, 'tool position');
    await asked.getByLabel('Output').fill('The user does not share it.');
    await asked.getByLabel('The call failed').check();
    await page.getByRole('button', { name: 'Send answers' }).click();
    await ended(visit, 4);
    const runId = await getRunId(answers(page).last().getByRole('link', { name: 'Open the run' }));
    const { body } = await api.get(`/v2/integrations/${integration}/runs/${runId}/steps`);
    const { status, error } = (body.items as readonly Step[]).find(({ tool }) => tool === 'position') as Step;
    expectEqual('a call that failed', [status, error?.message], ['failed', 'The user does not share it.']);
    rig.agencies.delete(agency);
    await untilAgency(visit, agency, (found) => found === undefined);
  },
};

/** Runs that end with questions, and the answers in the page. */
export const playgroundQuestionVisits: readonly ConsoleVisit[] = [questions, twoQuestions, clientTool];
