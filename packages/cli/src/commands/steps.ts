import type { Step } from '@runwire/client';
import { type CliCommand, type Context, wholeNumber } from '../command.ts';
import { connectToIntegration, type IntegrationOptions } from '../connection.ts';
import { type ListOptions, printList } from '../output.ts';

export function addStepsCommand(program: CliCommand, { env }: Context): void {
  program
    .command('steps')
    .explain({
      summary: 'list the steps of a run, the newest first',
      details: [
        'A step is a call of a model or a tool. Calls that failed, were cut or wait for an answer are listed too.',
      ],
      examples: ['runwire steps run_01HZX3', "runwire steps --json run_01HZX3 | jq '.[].usage'"],
    })
    .argument('RUN_ID')
    .option('--limit <N>', 'at most this many steps; default: 100', wholeNumber, 100)
    .printsJson('print the steps as a JSON array')
    .asksIntegration()
    .action(async (runId: string, options: ListOptions & IntegrationOptions) => {
      const client = await connectToIntegration(env, options);
      await printList(client.runs.steps({ runId }), options, [
        { title: 'step', value: ({ step }) => step },
        { title: 'agent', value: ({ agent }) => agent },
        { title: 'call', value: ({ tool, model }) => tool ?? model, canShrink: true },
        { title: 'end', value: ({ error, status }) => error?.code ?? status },
        { title: 'ms', value: durationMs },
        { title: 'tokens', value: ({ usage }) => usage?.total_tokens },
        { title: 'files', value: ({ files }) => files.length },
      ]);
    });
}

const durationMs = ({ startedAt, completedAt }: Step): number => Date.parse(completedAt) - Date.parse(startedAt);
