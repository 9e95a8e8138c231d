import type { ListRunsParameters, Run, RunEvent, RunRecord } from '@runwire/client';
import { Option } from 'commander';
import { type CliCommand, type Context, wholeNumber } from '../command.ts';
import { connectToIntegration, type IntegrationOptions } from '../connection.ts';
import { EXIT, EXIT_OF_END, UsageError } from '../exit-codes.ts';
import {
  costText,
  type Fields,
  jsonLine,
  type ListOptions,
  measureWidth,
  note,
  print,
  printFields,
  printJson,
  printList,
  shortened,
  time,
} from '../output.ts';
import { timeOption } from '../request-options.ts';
import { eventLine } from '../run-display.ts';

interface RunsOptions extends ListOptions, IntegrationOptions {
  readonly chat?: string;
  readonly member?: string;
  readonly status?: NonNullable<ListRunsParameters['status']>;
  readonly agent?: string;
  readonly rerunOf?: string;
  readonly from?: string;
  readonly to?: string;
  readonly search?: string;
}

interface EventsOptions extends IntegrationOptions {
  readonly follow?: true;
  readonly after: number;
  readonly json?: true;
}

interface StatusOptions extends IntegrationOptions {
  readonly request?: string;
  readonly chat?: string;
  readonly alias?: string;
  readonly json?: true;
}

interface CancelOptions extends IntegrationOptions {
  readonly afterStep?: true;
  readonly json?: true;
}

const STATES = ['admitted', 'running', 'completed', 'failed', 'cancelled'] as const;
const ANSWER_CHARACTERS = 60;

/** The commands about runs that exist. */
export function addRunsCommands(program: CliCommand, context: Context): void {
  addRunsCommand(program, context);
  addEventsCommand(program, context);
  addStatusCommand(program, context);
  addCancelCommand(program, context);
}

function addRunsCommand(program: CliCommand, { env }: Context): void {
  program
    .command('runs')
    .explain({
      summary: 'list runs, the newest first',
      examples: [
        'runwire runs',
        'runwire runs --agent Concierge --from 2026-11-01',
        "runwire runs --search 'late refund'",
        "runwire runs --status failed --json | jq -r '.[].runId'",
      ],
    })
    .option('--chat <ID>', 'only runs of this chat')
    .option('--member <ID>', 'only runs of this member')
    .addOption(new Option('--status <STATUS>', `only runs in this state: ${STATES.join(', ')}`).choices(STATES))
    .option('--agent <NAME>', 'only runs that were started at this agent')
    .option('--rerun-of <RUN_ID>', 'only reruns of this run')
    .option('--from <DATE>', 'only runs that were admitted on this day or later, or at this time or later')
    .option('--to <DATE>', 'only runs that were admitted before this day or time')
    .option('--search <WORDS>', 'only runs in which all these words occur: in message, answer, tools or error')
    .option('--limit <N>', 'at most this many runs; default: 20', wholeNumber, 20)
    .printsJson('print the runs as a JSON array')
    .asksIntegration()
    .action(async (options: RunsOptions) => {
      const { chat, member, status, agent, rerunOf, search } = options;
      const [from, to] = [timeOption('--from', options.from), timeOption('--to', options.to)];
      const client = await connectToIntegration(env, options);
      const filters = {
        chatId: chat,
        consumerId: member,
        status,
        agent,
        rerunOf,
        from,
        to,
        q: search,
        // Only the JSON has whole texts.
        texts: options.json === true,
      };
      await printList(client.runs.list(filters), options, [
        { title: 'run', value: ({ runId }) => runId },
        { title: 'status', value: ({ status: state, error }) => error?.code ?? state },
        { title: 'created', value: ({ createdAt }) => time(createdAt) },
        { title: 'member', value: ({ consumerId }) => consumerId, canShrink: true },
        { title: 'agent', value: ({ agent }) => agent, canShrink: true },
        { title: 'message', value: ({ messagePreview }) => messagePreview, canShrink: true },
      ]);
    });
}

function addEventsCommand(program: CliCommand, { env }: Context): void {
  program
    .command('events')
    .explain({
      summary: 'print the events of a run',
      details: [
        'Without --follow it prints the events that exist. With --follow it continues until the run has ended, and the exit code tells its end: 0 completed, 1 failed, 3 cancelled. Ctrl-C leaves; the run continues.',
      ],
      examples: ['runwire events run_01HZX3', 'runwire events --follow --json run_01HZX3 | jq .type'],
    })
    .argument('RUN_ID')
    .option('-f, --follow', 'continue until the run has ended')
    .option('--after <ID>', 'only events with a higher id', wholeNumber, 0)
    .printsJson('print each event as one line of JSON')
    .asksIntegration()
    .action(async (runId: string, { follow, after, json, ...options }: EventsOptions) => {
      const client = await connectToIntegration(env, options);
      const { lastEventId, chatId } = await client.runs.get({ runId });
      if (!follow && lastEventId <= after) return;
      const place = { apiIntegrationId: null, usageRequestId: null, runId, chatId, lastEventId: after };
      const run = client.attach(place, { after });
      if (follow) {
        for await (const event of run) printEvent(event, json === true);
        process.exitCode = EXIT_OF_END[(await run.result()).status];
      } else {
        for await (const event of eventsUpTo(run, lastEventId)) printEvent(event, json === true);
      }
    });
}

/** Reads the events that are stored. The last of them need not be one of the typed events, so frames are counted. */
async function* eventsUpTo(run: Run, lastEventId: number): AsyncGenerator<RunEvent> {
  const detached = (async () => {
    for await (const { id } of run.frames()) if (id >= lastEventId) run.detach();
  })();
  // The reader below gets the same error.
  detached.catch(() => {});
  try {
    yield* run;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'detached')) throw error;
  }
}

function printEvent(event: RunEvent, isJson: boolean): void {
  print(isJson ? jsonLine(event) : shortened(eventLine(event), measureWidth(process.stdout)));
}

function addStatusCommand(program: CliCommand, { env }: Context): void {
  program
    .command('status')
    .explain({
      summary: 'show what happened to a run or a request',
      details: ["Name a run, or one of --request, --chat and --alias: then it shows the chat's newest run."],
      examples: ['runwire status run_01HZX3', 'runwire status --request order-17', 'runwire status --chat trip --json'],
    })
    .argument('[RUN_ID]')
    .option('--request <ID>', 'the usageRequestId of the request')
    .option('--chat <ID>', 'the chat')
    .option('--alias <ALIAS>', 'the alias of the chat')
    .printsJson('print the run, or the chat status, as JSON')
    .asksIntegration()
    .action(async (runId: string | undefined, { request, chat, alias, json, ...options }: StatusOptions) => {
      if ([runId, request, chat, alias].filter((name) => name !== undefined).length !== 1) {
        throw new UsageError('Name either a run, or one of --request, --chat and --alias.');
      }
      const client = await connectToIntegration(env, options);
      if (runId !== undefined) {
        const run = await client.runs.get({ runId });
        return json ? printJson(run) : printFields({ ...runFields(run), cost: costText(run.cost) });
      }
      const status = await client.chats.status({
        usageRequestId: request,
        chatId: chat,
        aliasChatId: alias,
      });
      if (json) return printJson(status);
      const chatFields = { chat: status.chatId, 'chat status': status.status, messages: status.numMessages };
      printFields({ ...chatFields, ...(status.run === null ? {} : runFields(status.run)) });
    });
}

type ShownRun = Pick<
  RunRecord,
  | 'runId'
  | 'usageRequestId'
  | 'status'
  | 'agent'
  | 'attempt'
  | 'lastEventId'
  | 'createdAt'
  | 'completedAt'
  | 'error'
  | 'message'
  | 'usage'
>;

const runFields = (run: ShownRun): Fields => ({
  run: run.runId,
  request: run.usageRequestId,
  status: run.status,
  error: run.error === null ? null : `${run.error.message} (${run.error.code})`,
  agent: run.agent,
  created: time(run.createdAt),
  completed: time(run.completedAt),
  attempt: run.attempt > 1 ? run.attempt : null,
  'last event': run.lastEventId,
  tokens: run.usage?.total_tokens,
  answer: run.message === null ? null : shortened(run.message, ANSWER_CHARACTERS),
});

function addCancelCommand(program: CliCommand, { env }: Context): void {
  program
    .command('cancel')
    .explain({
      summary: 'cancel a run',
      details: [
        'It waits until the run has stopped, at most 10 seconds.',
        `Exit code ${EXIT.incomplete}: the run has not stopped yet; it will.`,
      ],
      examples: ['runwire cancel run_01HZX3', 'runwire cancel --after-step run_01HZX3'],
    })
    .argument('RUN_ID')
    .option('--after-step', 'let the current step finish first')
    .printsJson('print the answer as JSON')
    .asksIntegration()
    .action(async (runId: string, { afterStep, json, ...options }: CancelOptions) => {
      const client = await connectToIntegration(env, options);
      const result = await client.runs.cancel({ runId, mode: afterStep ? 'after_step' : 'immediate' });
      if (json) printJson(result);
      else note(CANCEL_SENTENCES[result.status]);
      if (result.status === 'cancelling') process.exitCode = EXIT.incomplete;
    });
}

const CANCEL_SENTENCES = {
  cancelled: 'The run is cancelled.',
  cancelling: 'The run is being cancelled, but has not stopped yet.',
  completed: 'The run had already completed.',
  failed: 'The run had already failed.',
} as const;
