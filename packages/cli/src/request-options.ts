import type { RunRequest, WebhookEndpoint } from '@runwire/client';
import { type CliCommand, repeated } from './command.ts';
import type { IntegrationOptions } from './connection.ts';
import { UsageError } from './exit-codes.ts';
import { parseJsonObject } from './json-object.ts';

/** The options of commands that start runs. */
export interface RequestOptions extends IntegrationOptions {
  readonly chat?: string;
  readonly alias?: string;
  readonly member?: string;
  readonly agent?: string;
  readonly context?: string;
  readonly file?: readonly string[];
  readonly json?: true;
}

export const addRequestOptions = (command: CliCommand): CliCommand =>
  command
    .option('--chat <ID>', 'continue this chat, or begin it under this id')
    .option('--alias <ALIAS>', 'the same by an alias of the chat')
    .option('--member <ID>', 'the member (consumerId) that asks')
    .option('--agent <NAME>', 'the agent that answers; default: that of the integration')
    .option('--context <JSON>', 'user_context, for tools and instructions')
    .option('--file <PATH>', 'an uploaded file that the agent may read; may be repeated', repeated);

/** A request's fields, without its message. */
export function toRequest({ chat, alias, member, agent, context, file }: RequestOptions): Omit<RunRequest, 'message'> {
  return {
    chatId: chat,
    aliasChatId: alias,
    consumerId: member,
    agent,
    user_context: jsonOption('--context', context),
    sandboxFiles: file?.map((path) => ({ name: path.split('/').at(-1) ?? '', path })),
  };
}

/** Reads an option that is a JSON object. Returns undefined if the option is not used. */
export function jsonOption(name: string, text: string | undefined): Record<string, unknown> | undefined {
  if (text === undefined) return undefined;
  const value = parseJsonObject(text);
  if (value !== null) return value;
  throw new UsageError(`${name} is \`${text}\`; write a JSON object, such as '{"plan":"pro"}'.`);
}

/** Reads a value that is JSON or text. */
export function jsonOrText(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

/** Reads an option that is a day (`2026-11-01`) or an exact time. Returns the time as the API takes it. */
export function timeOption(name: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const found = new Date(text);
  if (Number.isNaN(found.getTime())) {
    throw new UsageError(
      `${name} is \`${text}\`; write a day such as 2026-11-01, or a time such as 2026-11-01T12:00:00Z.`,
    );
  }
  return found.toISOString();
}

/** The field of a request, if the option is used. The server checks the types. */
export const toEvents = (types: string | undefined) =>
  types === undefined ? {} : { events: types.split(',') as WebhookEndpoint['events'] };
