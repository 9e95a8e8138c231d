import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import type { RunRequest } from '@runwire/client';
import type { CliCommand, Context } from '../command.ts';
import { connectToIntegration, reach } from '../connection.ts';
import { EXIT, UsageError } from '../exit-codes.ts';
import { addRequestOptions, type RequestOptions, toRequest } from '../request-options.ts';
import { showRun } from '../show-run.ts';

interface RunCommandOptions extends RequestOptions {
  readonly request?: string;
  readonly quiet?: true;
  readonly history?: string;
  readonly instructions?: string;
}

export function addRunCommand(program: CliCommand, { env }: Context): void {
  addRequestOptions(program.command('run'))
    .explain({
      summary: 'send one message and print the answer',
      details: [
        'The message is the argument, or standard input if there is no argument or it is `-`.',
        "Standard output has the answer's text and nothing else: in a terminal as it arrives, otherwise when the run has ended. Tools, questions and errors are on standard error.",
        'The run is started once, however often the connection breaks. Ctrl-C cancels it; a second Ctrl-C leaves.',
        `Exit codes: 0 completed, ${EXIT.failed} failed, ${EXIT.incomplete} cancelled or with open questions, ${EXIT.refused} refused, ${EXIT.unreachable} unreachable, ${EXIT.interrupted} Ctrl-C.`,
      ],
      examples: [
        'runwire run "What is the weather in Rome?"',
        'git diff | runwire run --chat review > review.md',
        'runwire run --request order-17 "Summarise order 17."',
        'runwire run --json "Hello" | jq -r .chatId',
      ],
    })
    .argument('[MESSAGE]')
    .option('--request <ID>', 'your own id for the request (usageRequestId): the same id never runs twice')
    .option('--history <FILE>', 'a file with earlier turns as a JSON array; only for a new chat')
    .option('--instructions <TEXT>', 'more instructions for this run; the integration must have callerInstructions')
    .option('-q, --quiet', 'no tools on standard error')
    .printsJson('print how the run ended as JSON, with its text')
    .asksIntegration()
    .action(async (message: string | undefined, options: RunCommandOptions, command: CliCommand) => {
      const { request } = options;
      if (request?.trim() === '') throw new UsageError('--request is blank; write an id, such as `order-17`.');
      const content = await toMessage(message);
      const { instructions } = options;
      const history = options.history === undefined ? undefined : await readHistory(options.history);
      const client = await connectToIntegration(env, options);
      await reach(client);
      const run = client.run({
        ...toRequest(options),
        usageRequestId: request,
        message: content,
        history,
        instructions,
      });
      await showRun(run, options, command);
    });
}

/** The server checks the items. */
async function readHistory(file: string): Promise<RunRequest['history']> {
  try {
    const items: unknown = JSON.parse(await readFile(file, 'utf8'));
    if (Array.isArray(items)) return items;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw new UsageError(`--history: the file \`${file}\` cannot be read.`);
  }
  throw new UsageError(`--history: the file \`${file}\` has no JSON array; write the turns as \`history\` has them.`);
}

async function toMessage(argument: string | undefined): Promise<string> {
  if (argument !== undefined && argument !== '-') return argument;
  if (process.stdin.isTTY) throw new UsageError('Give a message, or pipe one to standard input.');
  const content = (await text(process.stdin)).trimEnd();
  if (content === '') throw new UsageError('Standard input is empty; it must have the message.');
  return content;
}
