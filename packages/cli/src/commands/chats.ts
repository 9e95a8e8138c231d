import type { Chat, ListChatsParameters } from '@runwire/client';
import { Option } from 'commander';
import { type CliCommand, type Context, repeated, wholeNumber } from '../command.ts';
import { connectToIntegration, type IntegrationOptions } from '../connection.ts';
import { UsageError } from '../exit-codes.ts';
import { type ListOptions, note, print, printFields, printJson, printList, time, visible } from '../output.ts';
import { jsonOption, timeOption } from '../request-options.ts';
import { callText } from '../run-display.ts';

interface OneOptions extends IntegrationOptions {
  readonly json?: true;
}

interface ChatsOptions extends ListOptions, IntegrationOptions {
  readonly member?: string;
  readonly status?: NonNullable<ListChatsParameters['status']>;
  readonly after?: string;
  readonly waiting?: true;
  readonly search?: string;
  readonly sort?: NonNullable<ListChatsParameters['sort']>;
}

interface CreateOptions extends OneOptions {
  readonly alias?: string;
  readonly member?: string;
}

interface ForkOptions extends OneOptions {
  readonly run?: string;
  readonly before?: true;
  readonly id?: string;
  readonly alias?: string;
}

interface UpdateOptions extends OneOptions {
  readonly title?: string;
  readonly metadata?: string;
  readonly askAgain?: readonly string[];
}

interface StateOptions extends OneOptions {
  readonly patch?: string;
}

const ONE = 'print the chat as JSON';

export function addChatsCommands(program: CliCommand, context: Context): void {
  const chats = program.command('chats').explain({ summary: 'the chats of an integration' });
  addListCommand(chats, context);
  addShowCommand(chats, context);
  addCreateCommand(chats, context);
  addForkCommand(chats, context);
  addUpdateCommand(chats, context);
  addStateCommand(chats, context);
  addDeleteCommand(chats, context);
  addMessagesCommand(program, context);
}

function addListCommand(chats: CliCommand, { env }: Context): void {
  chats
    .command('list')
    .explain({
      summary: 'list chats, the newest first',
      details: [
        'The column OPEN has the number of open questions, TITLE the title or the first line of the first message.',
      ],
      examples: [
        'runwire chats list',
        'runwire chats list --sort updated',
        'runwire chats list --member user-42 --status idle',
      ],
    })
    .option('--member <ID>', 'only chats of this member')
    .addOption(new Option('--status <STATUS>', 'only chats in this state: idle, running').choices(['idle', 'running']))
    .option('--after <DATE>', 'only chats that changed after this day or time')
    .option('--waiting', 'only chats with open questions')
    .option('--search <WORDS>', 'only chats in which all these words occur')
    .addOption(
      new Option('--sort <ORDER>', 'by creation or by the last change; default: created').choices([
        'created',
        'updated',
      ]),
    )
    .option('--limit <N>', 'at most this many chats; default: 20', wholeNumber, 20)
    .printsJson('print the chats as a JSON array')
    .asksIntegration()
    .action(async (options: ChatsOptions) => {
      const { member, status, waiting, sort, search } = options;
      const updatedAfter = timeOption('--after', options.after);
      const client = await connectToIntegration(env, options);
      const filters = {
        consumerId: member,
        status,
        updatedAfter,
        waiting,
        sort,
        q: search,
      };
      await printList(client.chats.list(filters), options, [
        { title: 'chat', value: ({ chatId }) => chatId },
        { title: 'status', value: ({ status: state }) => state },
        { title: 'messages', value: ({ numMessages }) => numMessages },
        { title: 'open', value: ({ pending }) => pending.length },
        { title: 'updated', value: ({ updatedAt }) => time(updatedAt) },
        { title: 'member', value: ({ consumerId }) => consumerId, canShrink: true },
        { title: 'title', value: ({ titlePreview }) => titlePreview, canShrink: true },
      ]);
    });
}

function addShowCommand(chats: CliCommand, { env }: Context): void {
  chats
    .command('show')
    .explain({ summary: 'show a chat and its open questions', examples: ['runwire chats show trip'] })
    .argument('CHAT')
    .printsJson(ONE)
    .asksIntegration()
    .action(async (chatId: string, options: OneOptions) => {
      const client = await connectToIntegration(env, options);
      printChat(await client.chats.get({ chatId }), options);
    });
}

function addCreateCommand(chats: CliCommand, { env }: Context): void {
  chats
    .command('create')
    .explain({
      summary: 'create an empty chat and print its id',
      details: ['Chats are also created by their first message. Without CHAT the server chooses the id.'],
      examples: ['runwire chats create trip --member user-42'],
    })
    .argument('[CHAT]')
    .option('--alias <ALIAS>', 'a second name, unique in the integration')
    .option('--member <ID>', 'the member that the chat belongs to')
    .printsJson(ONE)
    .asksIntegration()
    .action(async (chatId: string | undefined, { alias, member, json, ...options }: CreateOptions) => {
      const client = await connectToIntegration(env, options);
      const chat = await client.chats.create({
        chatId,
        aliasChatId: alias,
        consumerId: member,
      });
      if (json) printJson(chat);
      else print(visible(chat.chatId));
    });
}

function addForkCommand(chats: CliCommand, { env }: Context): void {
  chats
    .command('fork')
    .explain({
      summary: 'fork a chat: make a new one from its beginning',
      details: ['Without --run the new chat has everything up to the newest run that has ended.'],
      examples: ['runwire chats fork trip', 'runwire chats fork trip --run run_01m7 --before --id trip-2'],
    })
    .argument('CHAT')
    .option('--run <RUN>', 'the run with which the new chat ends')
    .option('--before', 'end before the message of that run')
    .option('--id <CHAT>', 'the id of the new chat; otherwise the server chooses it')
    .option('--alias <ALIAS>', 'a second name of the new chat, unique in the integration')
    .printsJson(ONE)
    .asksIntegration()
    .action(async (fromChatId: string, { run, before, id, alias, json, ...options }: ForkOptions) => {
      if (before && run === undefined) throw new UsageError('--before needs --run.');
      const client = await connectToIntegration(env, options);
      const chat = await client.chats.fork({ fromChatId, runId: run, before, chatId: id, aliasChatId: alias });
      if (json) printJson(chat);
      else print(visible(chat.chatId));
    });
}

function addUpdateCommand(chats: CliCommand, { env }: Context): void {
  chats
    .command('update')
    .explain({
      summary: 'change the title, the metadata or the approvals of a chat',
      details: ['An empty title removes it.', 'TOOL is a tool that an answer allowed in the chat, or `all`.'],
      examples: ['runwire chats update trip --title "Rome in May"', 'runwire chats update trip --ask-again refund'],
    })
    .argument('CHAT')
    .option('--title <TITLE>', 'the title for people')
    .option('--metadata <JSON>', 'data of your own')
    .option('--ask-again <TOOL>', 'ask again before calls of this tool; may be repeated', repeated)
    .printsJson(ONE)
    .asksIntegration()
    .action(async (chatId: string, { title, metadata, askAgain, ...options }: UpdateOptions) => {
      if (title === undefined && metadata === undefined && askAgain === undefined) {
        throw new UsageError('Nothing would change; use --title, --metadata or --ask-again.');
      }
      const client = await connectToIntegration(env, options);
      const fields = {
        title: title === '' ? null : title,
        metadata: jsonOption('--metadata', metadata),
        ...(askAgain !== undefined && { approvals: withoutTools(await client.chats.get({ chatId }), askAgain) }),
      };
      printChat(await client.chats.update({ chatId, ...fields }), options);
    });
}

function addStateCommand(chats: CliCommand, { env }: Context): void {
  chats
    .command('state')
    .explain({
      summary: 'show or change what tools keep in a chat',
      details: ['JSON is a merge patch: null removes a key. The state cannot be changed while a run is active.'],
      examples: ['runwire chats state trip', `runwire chats state trip --patch '{"plan":"pro","coupon":null}'`],
    })
    .argument('CHAT')
    .option('--patch <JSON>', 'the keys to change')
    .printsJson('print the state as JSON in one line')
    .asksIntegration()
    .action(async (chatId: string, { patch: given, json, ...options }: StateOptions) => {
      const patch = jsonOption('--patch', given) as Readonly<Record<string, unknown>> | undefined;
      const client = await connectToIntegration(env, options);
      const state = await (patch === undefined
        ? client.chats.state({ chatId })
        : client.chats.patchState({ chatId, patch }));
      if (json) printJson(state);
      else print(JSON.stringify(state, null, 2));
    });
}

/** The approvals that remain. */
function withoutTools({ chatId, approvals }: Chat, tools: readonly string[]): { readonly tool: string }[] {
  const missing = tools.find((tool) => tool !== 'all' && !approvals.some((one) => one.tool === tool));
  if (missing !== undefined) throw new UsageError(`${missing} is not allowed in the chat ${chatId}.`);
  const isKept = ({ tool }: { readonly tool: string }) => !tools.includes('all') && !tools.includes(tool);
  return approvals.filter(isKept).map(({ tool }) => ({ tool }));
}

function addDeleteCommand(chats: CliCommand, { env }: Context): void {
  chats
    .command('delete')
    .explain({
      summary: 'delete a chat with its messages',
      details: ['Its usage records are kept.'],
      examples: ['runwire chats delete trip'],
    })
    .argument('CHAT')
    .printsJson('print {"deleted"} as JSON')
    .asksIntegration()
    .action(async (chatId: string, options: OneOptions) => {
      const client = await connectToIntegration(env, options);
      await client.chats.delete({ chatId });
      if (options.json) printJson({ deleted: chatId });
      else note(`The chat ${chatId} is deleted.`);
    });
}

function addMessagesCommand(program: CliCommand, { env }: Context): void {
  program
    .command('messages')
    .explain({
      summary: 'list the messages of a chat, the newest first',
      examples: ['runwire messages trip', "runwire messages trip --json | jq -r '.[0].content'"],
    })
    .argument('CHAT')
    .option('--limit <N>', 'at most this many messages; default: 100', wholeNumber, 100)
    .printsJson('print the messages as a JSON array')
    .asksIntegration()
    .action(async (chatId: string, options: ListOptions & IntegrationOptions) => {
      const client = await connectToIntegration(env, options);
      await printList(client.chats.messages({ chatId }), options, [
        { title: 'created', value: ({ createdAt }) => time(createdAt) },
        { title: 'from', value: ({ role, agent }) => (role === 'user' ? role : agent) },
        { title: 'end', value: ({ error, status }) => error?.code ?? status },
        { title: 'message', value: ({ content }) => content, canShrink: true },
      ]);
    });
}

function printChat(chat: Chat, { json }: { readonly json?: true }): void {
  if (json) {
    printJson(chat);
    return;
  }
  printFields({
    chat: chat.chatId,
    alias: chat.aliasChatId,
    title: chat.title,
    member: chat.consumerId,
    status: chat.status,
    'active run': chat.activeRunId,
    messages: chat.numMessages,
    metadata: chat.metadata === null ? null : JSON.stringify(chat.metadata),
    'fork of': chat.forkedFrom?.chatId ?? null,
    'replaced by': chat.replacedBy,
    created: time(chat.createdAt),
    updated: time(chat.updatedAt),
    'open questions': chat.pending.map(callText).join(', '),
    'allowed tools': chat.approvals.map(({ tool }) => tool).join(', '),
  });
}
