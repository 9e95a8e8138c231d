import type { ChatStatus, Runwire } from '@runwire/client';
import type { CliCommand, Context } from '../command.ts';
import { connectToIntegration, reach } from '../connection.ts';
import { Conversation } from '../conversation.ts';
import { hasCode } from '../exit-codes.ts';
import { addRequestOptions, type RequestOptions, toRequest } from '../request-options.ts';

export function addChatCommand(program: CliCommand, { env }: Context): void {
  addRequestOptions(program.command('chat'))
    .explain({
      summary: 'talk to an agent in the terminal',
      details: [
        'Each line is a message. Tools are shown while they run. Open questions of the chat are asked first, and questions of its runs when they arise.',
        'Ctrl-C cancels the run; a second Ctrl-C leaves. Ctrl-D leaves.',
        'Lines of a pipe are messages too.',
      ],
      examples: [
        'runwire chat',
        'runwire chat --chat trip --member user-42',
        "printf 'Hello\\nAnd now?\\n' | runwire chat",
      ],
    })
    .printsJson('print how each run ended as one line of JSON')
    .asksIntegration()
    .action(async (options: RequestOptions, command: CliCommand) => {
      const client = await connectToIntegration(env, options);
      await reach(client);
      const { consumerId, pending } = await readChat(client, options);
      // A chat of a member can only be continued for this member.
      const member = consumerId === null ? {} : { consumerId };
      const { chat: chatId, json } = options;
      const request = { ...member, ...toRequest(options) };
      using conversation = new Conversation(client, { request, chatId, json, command });
      await conversation.hold(pending);
    });
}

/** Reads the chat that the options name. It counts as new if it does not exist, or if a token may not read it. */
async function readChat(
  client: Runwire,
  { chat, alias }: RequestOptions,
): Promise<Pick<ChatStatus, 'consumerId' | 'pending'>> {
  const unknown = { consumerId: null, pending: [] };
  if (chat === undefined && alias === undefined) return unknown;
  try {
    return await client.chats.status(chat === undefined ? { aliasChatId: alias ?? '' } : { chatId: chat });
  } catch (error) {
    if (hasCode(error, 'chat_not_found', 'integration_not_found', 'token_forbidden')) return unknown;
    throw error;
  }
}
