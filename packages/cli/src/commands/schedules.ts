import { readFile } from 'node:fs/promises';
import type { Schedule, ScheduleRequest, UpdateScheduleRequest } from '@runwire/client';
import { type CliCommand, type Context, wholeNumber } from '../command.ts';
import { connectToIntegration, type IntegrationOptions } from '../connection.ts';
import { UsageError } from '../exit-codes.ts';
import { type ListOptions, note, printFields, printJson, printList, time } from '../output.ts';
import { addRequestOptions, jsonOption, type RequestOptions, toRequest } from '../request-options.ts';

type OneOptions = IntegrationOptions & { readonly json?: true };

interface TimeOptions extends RequestOptions {
  readonly cron?: string;
  readonly every?: number;
  readonly at?: string;
  readonly timezone?: string;
  readonly catchUp?: 'latest' | 'none' | 'all';
  readonly message?: string;
  readonly request?: string;
}

const ONE = 'print the schedule as JSON';

export function addScheduleCommands(program: CliCommand, context: Context): void {
  const schedules = program.command('schedules').explain({ summary: 'runs that start by themselves' });
  addListCommand(schedules, context);
  addShowCommand(schedules, context);
  addCreateCommand(schedules, context);
  addSetCommand(schedules, context);
  addSwitchCommand(schedules, context, 'pause', 'pause a schedule', false);
  addSwitchCommand(schedules, context, 'resume', 'resume a paused schedule', true);
  addRunCommand(schedules, context);
  addTicksCommand(schedules, context);
  addDeleteCommand(schedules, context);
}

function addListCommand(schedules: CliCommand, { env }: Context): void {
  schedules
    .command('list')
    .explain({ summary: 'list schedules with their next tick', examples: ['runwire schedules list'] })
    .option('--limit <N>', 'the largest number of schedules; default: 50', wholeNumber, 50)
    .printsJson('print the schedules as a JSON array')
    .asksIntegration()
    .action(async (options: ListOptions & IntegrationOptions) => {
      const client = await connectToIntegration(env, options);
      await printList(client.schedules.list(), options, [
        { title: 'schedule', value: ({ scheduleId }) => scheduleId },
        { title: 'state', value: stateText },
        { title: 'times', value: timesText },
        { title: 'next tick', value: ({ nextTickAt }) => time(nextTickAt) },
        { title: 'name', value: ({ name }) => name, canShrink: true },
      ]);
    });
}

function addShowCommand(schedules: CliCommand, { env }: Context): void {
  schedules
    .command('show')
    .explain({ summary: 'show a schedule', examples: ['runwire schedules show sch_1'] })
    .argument('SCHEDULE')
    .printsJson(ONE)
    .asksIntegration()
    .action(async (scheduleId: string, options: OneOptions) => {
      const client = await connectToIntegration(env, options);
      printSchedule(await client.schedules.get({ scheduleId }), options);
    });
}

function addTimeOptions(command: CliCommand): CliCommand {
  command
    .option('--cron <PATTERN>', 'five fields: minute, hour, day, month, weekday; or six with seconds before them')
    .option('--every <SECONDS>', 'the seconds between two ticks, at least 60', wholeNumber)
    .option('--at <TIME>', 'when the only tick is due')
    .option('--timezone <NAME>', 'the time zone for --cron, such as Europe/Berlin; default: UTC')
    .option('--catch-up <WHICH>', 'ticks that run later if no node ran: `latest`, `none` or `all`; default: latest')
    .option('--message <TEXT>', "the message for each run; {{tick}} is the tick's time")
    .option('--request <FILE>', 'a file with the whole request as JSON, instead of the options for it');
  return addRequestOptions(command);
}

function addCreateCommand(schedules: CliCommand, { env }: Context): void {
  const command = schedules
    .command('create')
    .explain({
      summary: 'create a schedule',
      examples: [
        'runwire schedules create Weekly --cron "0 9 * * 1" --message "Report, please"',
        'runwire schedules create Poll --every 300 --message "What is new?"',
      ],
    })
    .argument('NAME');
  addTimeOptions(command)
    .printsJson(ONE)
    .asksIntegration()
    .action(async (name: string, options: TimeOptions) => {
      const request = await readRequest(options);
      if (request === undefined)
        throw new UsageError('Write the message with --message, or the request with --request.');
      const client = await connectToIntegration(env, options);
      printSchedule(await client.schedules.create({ name, ...readTimes(options), request }), options);
    });
}

function addSetCommand(schedules: CliCommand, { env }: Context): void {
  const command = schedules
    .command('set')
    .explain({
      summary: 'change a schedule',
      details: ['Fields that are not named keep their values. The request is replaced as a whole.'],
      examples: ['runwire schedules set sch_1 --cron "0 8 * * 1-5"'],
    })
    .argument('SCHEDULE')
    .option('--name <NAME>', 'the name for people');
  addTimeOptions(command)
    .printsJson(ONE)
    .asksIntegration()
    .action(async (scheduleId: string, options: TimeOptions & { readonly name?: string }) => {
      const change: UpdateScheduleRequest = {
        name: options.name,
        ...readTimes(options),
        request: await readRequest(options),
      };
      const client = await connectToIntegration(env, options);
      printSchedule(await client.schedules.update({ scheduleId, ...change }), options);
    });
}

/** The times that the options name, as the API takes them. */
function readTimes({ cron, every, at, timezone, catchUp }: TimeOptions) {
  if (catchUp !== undefined && !['latest', 'none', 'all'].includes(catchUp)) {
    throw new UsageError(`--catch-up is \`${catchUp}\`; write \`latest\`, \`none\` or \`all\`.`);
  }
  return { cron, everySeconds: every, at, timezone, catchUp };
}

/** Returns undefined if no option names a request. */
async function readRequest(options: TimeOptions): Promise<ScheduleRequest | undefined> {
  const { message, request } = options;
  if (request === undefined) return message === undefined ? undefined : { message, ...toRequest(options) };
  if (message !== undefined) throw new UsageError('Use either --message or --request.');
  return jsonOption('--request', await readFile(request, 'utf8')) as unknown as ScheduleRequest;
}

function addSwitchCommand(
  schedules: CliCommand,
  { env }: Context,
  verb: 'pause' | 'resume',
  summary: string,
  active: boolean,
): void {
  schedules
    .command(verb)
    .explain({ summary, examples: [`runwire schedules ${verb} sch_1`] })
    .argument('SCHEDULE')
    .printsJson(ONE)
    .asksIntegration()
    .action(async (scheduleId: string, options: OneOptions) => {
      const client = await connectToIntegration(env, options);
      printSchedule(await client.schedules.update({ scheduleId, active }), options);
    });
}

function addRunCommand(schedules: CliCommand, { env }: Context): void {
  schedules
    .command('run')
    .explain({
      summary: 'start one run now',
      details: ['The run is no tick: the schedule does not change.'],
      examples: ['runwire schedules run sch_1'],
    })
    .argument('SCHEDULE')
    .printsJson('print {"runId", "chatId"} as JSON')
    .asksIntegration()
    .action(async (scheduleId: string, { json, ...options }: OneOptions) => {
      const client = await connectToIntegration(env, options);
      const run = await client.schedules.run({ scheduleId });
      if (json) printJson(run);
      else printFields({ run: run.runId, chat: run.chatId });
    });
}

function addTicksCommand(schedules: CliCommand, { env }: Context): void {
  schedules
    .command('ticks')
    .explain({ summary: 'list what happened at the ticks', examples: ['runwire schedules ticks sch_1'] })
    .argument('SCHEDULE')
    .option('--limit <N>', 'the largest number of ticks; default: 50', wholeNumber, 50)
    .printsJson('print the ticks as a JSON array')
    .asksIntegration()
    .action(async (scheduleId: string, options: ListOptions & IntegrationOptions) => {
      const client = await connectToIntegration(env, options);
      await printList(client.schedules.ticks({ scheduleId }), options, [
        { title: 'tick', value: ({ tick }) => time(tick) },
        { title: 'run', value: ({ runId }) => runId },
        { title: 'refused', value: ({ code }) => code },
        { title: 'why', value: ({ error }) => error, canShrink: true },
      ]);
    });
}

function addDeleteCommand(schedules: CliCommand, { env }: Context): void {
  schedules
    .command('delete')
    .explain({ summary: 'delete a schedule; its runs are kept', examples: ['runwire schedules delete sch_1'] })
    .argument('SCHEDULE')
    .printsJson('print {"deleted"} as JSON')
    .asksIntegration()
    .action(async (scheduleId: string, { json, ...options }: OneOptions) => {
      const client = await connectToIntegration(env, options);
      await client.schedules.delete({ scheduleId });
      if (json) printJson({ deleted: scheduleId });
      else note(`The schedule ${scheduleId} is deleted.`);
    });
}

const stateText = ({ active }: Schedule) => (active ? 'active' : 'paused');

function timesText({ cron, everySeconds, at, timezone }: Schedule): string {
  if (cron !== null) return `${cron} (${timezone})`;
  return everySeconds === null ? `at ${time(at)}` : `every ${everySeconds} s`;
}

function printSchedule(schedule: Schedule, { json }: { readonly json?: true }): void {
  if (json) {
    printJson(schedule);
    return;
  }
  printFields({
    schedule: schedule.scheduleId,
    name: schedule.name,
    state: stateText(schedule),
    paused: schedule.pausedReason,
    times: timesText(schedule),
    'next tick': time(schedule.nextTickAt),
    'catch up': schedule.catchUp,
    message: schedule.request.message,
    member: schedule.request.consumerId,
    chat: schedule.request.chatId,
    created: time(schedule.createdAt),
    updated: time(schedule.updatedAt),
  });
}
