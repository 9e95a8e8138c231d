import type { RunRequest } from '@runwire/client';
import type { CliCommand, Context } from '../command.ts';
import { connectToIntegration, type IntegrationOptions } from '../connection.ts';
import { Conversation, isInteractive } from '../conversation.ts';
import { EXIT } from '../exit-codes.ts';
import { note, printJson, printTable } from '../output.ts';
import { type AnswerOptions, addAnswerOptions, answersByOptions, hasAnswers } from '../questions.ts';
import { jsonOption } from '../request-options.ts';
import { callText } from '../run-display.ts';
import { showRun } from '../show-run.ts';

interface Options extends IntegrationOptions, AnswerOptions {
  readonly message: string;
  readonly context?: string;
  readonly request?: string;
  readonly quiet?: true;
  readonly json?: true;
}

export function addAnswerCommand(program: CliCommand, { env }: Context): void {
  const answer = program.command('answer').explain({
    summary: 'answer the open questions of a chat',
    details: [
      'In a terminal it asks for each answer. With options it answers without asking; then every question needs an answer. QUESTION is the id of a question, the name of its tool, or `all`.',
      'The answers continue the run that asked. Its text is printed as by `runwire run`, with the same exit codes.',
      `Without a terminal and without answers it prints the open questions, with exit code ${EXIT.incomplete}. Exit code ${EXIT.failed}: no question is open.`,
    ],
    examples: [
      'runwire answer trip',
      'runwire answer trip --approve all',
      'runwire answer trip --arguments refund=\'{"invoice":"A1","cents":500}\'',
      'runwire answer trip --decline refund --reason "Too expensive"',
      'runwire answer trip --output position=\'{"city":"Rome"}\'',
    ],
  });
  addAnswerOptions(answer.argument('CHAT'))
    .option('-q, --quiet', 'no tools on standard error')
    .printsJson('print how the run ended, or the open questions, as JSON')
    .asksIntegration()
    .action(async (chatId: string, options: Options, command: CliCommand) => {
      const client = await connectToIntegration(env, options);
      const { pending, consumerId } = await client.chats.get({ chatId });
      if (pending.length === 0) throw new Error(`No question is open in the chat ${chatId}.`);
      const member = consumerId === null ? {} : { consumerId };
      const request = { ...toRunRequest(options), ...member, chatId };
      if (hasAnswers(options)) {
        const answers = answersByOptions(pending, options);
        await showRun(client.run({ ...request, answers }), options, command);
      } else if (isInteractive()) {
        using conversation = new Conversation(client, { request, chatId, json: options.json, command });
        await conversation.settle(pending);
      } else {
        if (options.json) printJson(pending);
        else
          printTable(pending, [
            { title: 'question', value: ({ questionId }) => questionId },
            { title: 'kind', value: ({ kind }) => kind },
            { title: 'agent', value: ({ agent }) => agent },
            { title: 'call', value: callText, canShrink: true },
          ]);
        note('Answer them with --approve, --decline and --output.');
        process.exitCode = EXIT.incomplete;
      }
    });
}

const toRunRequest = ({ message, context, request }: Options): RunRequest => ({
  message,
  user_context: jsonOption('--context', context),
  usageRequestId: request,
});
