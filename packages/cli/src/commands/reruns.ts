import type { RunComparison } from '@runwire/client';
import { type CliCommand, type Context, wholeNumber } from '../command.ts';
import { connectToIntegration, type IntegrationOptions, reach } from '../connection.ts';
import { print, printJson, printTable } from '../output.ts';
import { jsonOption } from '../request-options.ts';
import { showRun } from '../show-run.ts';

interface RerunOptions extends IntegrationOptions {
  readonly afterStep?: number;
  readonly message?: string;
  readonly agent?: string;
  readonly agency?: string;
  readonly model?: string;
  readonly instructions?: string;
  readonly context?: string;
  readonly live?: true;
  readonly keep?: true;
  readonly request?: string;
  readonly quiet?: true;
  readonly json?: true;
}

interface CompareOptions extends IntegrationOptions {
  readonly json?: true;
}

/** The commands that run a run again. */
export function addRerunCommands(program: CliCommand, context: Context): void {
  addRerunCommand(program, context);
  addCompareCommand(program, context);
}

function addRerunCommand(program: CliCommand, { env }: Context): void {
  program
    .command('rerun')
    .explain({
      summary: 'run a run again, with another model, message or agency',
      details: [
        'Its tools are not called again: calls get the outcomes that they had in the run. The chat is not changed, and no member is charged.',
        'Standard output has the answer; the id of the new run is in --json.',
      ],
      examples: [
        'runwire rerun --model openai/gpt-5-mini run_01HZX3',
        "runwire rerun --after-step 3 --instructions 'Be brief.' run_01HZX3",
        'runwire rerun --json run_01HZX3 | jq -r .runId',
      ],
    })
    .argument('RUN_ID')
    .option('--after-step <N>', 'keep the steps up to this one, as `runwire steps` lists them', wholeNumber)
    .option('--message <TEXT>', 'another message, instead of that of the run')
    .option('--agent <NAME>', 'another agent that answers')
    .option('--agency <ID>', 'another agency, such as a folder with the new version')
    .option('--model <MODEL>', 'another model, as provider/model')
    .option('--instructions <TEXT>', 'other instructions for the agent')
    .option('--context <JSON>', 'user_context, for tools and instructions')
    .option('--live', 'call the tools')
    .option('--keep', 'list the chat of the rerun, and do not delete it after some days')
    .option('--request <ID>', 'your own id for the request (usageRequestId): the same id never runs twice')
    .option('-q, --quiet', 'no tools on standard error')
    .printsJson('print how the run ended as JSON, with its text')
    .asksIntegration()
    .action(async (runId: string, options: RerunOptions, command: CliCommand) => {
      const { afterStep, message, agent, agency, model, instructions, context, live, keep, request } = options;
      const user_context = jsonOption('--context', context);
      const client = await connectToIntegration(env, options);
      await reach(client);
      const run = client.rerun({
        ...{ runId, afterStep, message, agent, agency, model, instructions, user_context, keep },
        tools: live === true ? 'live' : undefined,
        usageRequestId: request,
      });
      await showRun(run, options, command);
    });
}

type Pair = RunComparison['steps'][number];

function addCompareCommand(program: CliCommand, { env }: Context): void {
  program
    .command('compare')
    .explain({
      summary: 'compare two runs, step by step',
      examples: ['runwire compare run_01HZX3 run_01J04Q', 'runwire compare --json run_01HZX3 run_01J04Q | jq .text'],
    })
    .argument('RUN_ID')
    .argument('OTHER_RUN_ID')
    .printsJson('print the comparison as JSON')
    .asksIntegration()
    .action(async (runId: string, other: string, options: CompareOptions) => {
      const client = await connectToIntegration(env, options);
      const found = await client.runs.compare({ runId, with: other });
      if (options.json === true) {
        printJson(found);
        return;
      }
      printTable<Pair>(found.steps, [
        { title: 'step', value: ({ left }) => left?.step },
        { title: 'other', value: ({ right }) => right?.step },
        { title: 'change', value: ({ change }) => change },
        { title: 'agent', value: ({ left, right }) => (left ?? right)?.agent },
        { title: 'call', value: ({ left }) => left?.tool ?? left?.model ?? left?.kind, canShrink: true },
        { title: 'other call', value: ({ right }) => right?.tool ?? right?.model ?? right?.kind, canShrink: true },
      ]);
      const { text, usage } = found;
      print(`\ntokens ${usage.left?.total_tokens ?? 0}, other ${usage.right?.total_tokens ?? 0}`);
      print(text.left === text.right ? 'The answers are equal.' : `\n${text.left ?? ''}\n\nother\n${text.right ?? ''}`);
    });
}
