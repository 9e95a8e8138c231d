import type { AskedQuestion, ListQuestionsParameters } from '@runwire/client';
import { Option } from 'commander';
import { type CliCommand, type Context, wholeNumber } from '../command.ts';
import { type ConnectionOptions, connect, connectToIntegration, type IntegrationOptions } from '../connection.ts';
import { type ListOptions, printFields, printJson, printList, time } from '../output.ts';
import { type AnswerOptions, addAnswerOptions, answersByOptions } from '../questions.ts';
import { jsonOption } from '../request-options.ts';
import { callText } from '../run-display.ts';

interface QuestionsOptions extends ListOptions, ConnectionOptions {
  readonly state: NonNullable<ListQuestionsParameters['state']>;
}

interface AnswersOptions extends AnswerOptions, IntegrationOptions {
  readonly message: string;
  readonly context?: string;
  readonly request?: string;
  readonly json?: true;
}

export function addQuestionCommands(program: CliCommand, context: Context): void {
  const questions = program.command('questions').explain({ summary: 'the open questions of all chats' });
  addListCommand(questions, context);
  addAnswerCommand(questions, context);
}

function addListCommand(questions: CliCommand, { env }: Context): void {
  questions
    .command('list')
    .explain({
      summary: 'list the questions of all chats, the newest first',
      details: [
        'Questions of all your integrations. `all` also lists questions that a new message left without an answer.',
      ],
      examples: ['runwire questions list', 'runwire questions list --state answered'],
    })
    .addOption(
      new Option('--state <STATE>', 'open, answered or all; default: open')
        .choices(['open', 'answered', 'all'])
        .default('open'),
    )
    .option('--limit <N>', 'at most this many questions; default: 20', wholeNumber, 20)
    .printsJson('print the questions as a JSON array')
    .asksServer()
    .action(async ({ state, ...options }: QuestionsOptions) => {
      const client = await connect(env, options);
      await printList(client.questions.list({ state }), options, [
        { title: 'asked', value: ({ askedAt }) => time(askedAt) },
        { title: 'integration', value: ({ apiIntegrationId }) => apiIntegrationId },
        { title: 'chat', value: ({ chatId }) => chatId },
        { title: 'member', value: ({ consumerId }) => consumerId, canShrink: true },
        { title: 'state', value: stateText },
        { title: 'answered by', value: ({ answeredBy }) => answeredBy?.name ?? answeredBy?.id ?? null },
        { title: 'call', value: callText, canShrink: true },
      ]);
    });
}

const stateText = ({ state, decision }: AskedQuestion) => decision ?? state;

function addAnswerCommand(questions: CliCommand, { env }: Context): void {
  const command = questions.command('answer').explain({
    summary: 'answer the open questions of a chat, without reading the run',
    details: [
      'Every open question needs an answer. QUESTION is the id of a question, the name of its tool, or `all`.',
      'The run continues on the server. `runwire answer` asks for each answer, and prints the text of the run.',
    ],
    examples: [
      'runwire questions answer trip --approve all',
      'runwire questions answer trip --remember refund',
      'runwire questions answer trip --decline refund --reason "Too expensive"',
    ],
  });
  addAnswerOptions(command.argument('CHAT'))
    .printsJson('print {"runId", "chatId", "status"} as JSON')
    .asksIntegration()
    .action(async (chatId: string, options: AnswersOptions) => {
      const client = await connectToIntegration(env, options);
      const { pending } = await client.chats.get({ chatId });
      if (pending.length === 0) throw new Error(`No question is open in the chat ${chatId}.`);
      const run = await client.questions.answer({
        chatId,
        answers: answersByOptions(pending, options),
        message: options.message,
        user_context: jsonOption('--context', options.context),
        usageRequestId: options.request,
      });
      if (options.json) printJson(run);
      else printFields({ run: run.runId, chat: run.chatId, status: run.status });
    });
}
