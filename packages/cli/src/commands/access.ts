import type { CreateApiKeyRequest, CreateClientTokenRequest } from '@runwire/client';
import { type CliCommand, type Context, repeated, wholeNumber } from '../command.ts';
import {
  type ConnectionOptions,
  connect,
  connectToIntegration,
  type IntegrationOptions,
  namesServer,
} from '../connection.ts';
import { UsageError } from '../exit-codes.ts';
import { type ListOptions, note, print, printJson, printList, time } from '../output.ts';
import { jsonOption } from '../request-options.ts';
import { roleOption } from './people.ts';

interface KeyOptions extends ConnectionOptions {
  readonly name: string;
  readonly role?: CreateApiKeyRequest['role'];
  readonly integration?: readonly string[];
  readonly json?: true;
}

interface TokenOptions extends IntegrationOptions {
  readonly can?: readonly string[];
  readonly chat?: string;
  readonly agent?: string;
  readonly folder?: string;
  readonly context?: string;
  readonly origin?: readonly string[];
  readonly expires?: number;
  readonly json?: true;
}

/** The commands about API keys and client tokens. */
export function addAccessCommands(program: CliCommand, context: Context): void {
  addKeyCommands(program, context);
  addTokenCommands(program, context);
}

function addKeyCommands(program: CliCommand, { env }: Context): void {
  const keys = program.command('keys').explain({ summary: 'the API keys of an owner' });
  keys
    .command('create')
    .explain({
      summary: 'create an API key and print it once',
      details: [
        'With --url or RUNWIRE_URL it asks that server for a key of the same owner. Otherwise it creates a key of the first owner in the installation of this machine, which it finds by the same environment variables as the server.',
        'The server may be running: it accepts the new key immediately.',
      ],
      examples: [
        'runwire keys create --name backend',
        'runwire keys create --role viewer --url http://127.0.0.1:8787',
        'export RUNWIRE_API_KEY="$(runwire keys create)"',
      ],
    })
    .option('--name <NAME>', "the key's name in the list; default: command line", 'command line')
    .addOption(roleOption('--role <ROLE>', 'what the key may do; default: manager'))
    .option('--integration <ID>', 'the only integration that the key reaches; may be repeated; default: all', repeated)
    .printsJson('print the key as JSON')
    .asksServer()
    .action(async ({ name, role, integration, json, ...options }: KeyOptions) => {
      const asksServer = namesServer(env, options);
      if (!asksServer && (role !== undefined || integration !== undefined)) {
        throw new UsageError('--role and --integration need a server; use --url.');
      }
      const integrations = integration && [...integration];
      const created = asksServer
        ? await (await connect(env, options)).keys.create({ name, role, integrations })
        : { apiKey: await (await import('@runwire/server')).createKey(env, name), name };
      if (json) printJson(created);
      else print(created.apiKey);
    });
  keys
    .command('list')
    .explain({ summary: 'list the API keys of the owner', examples: ['runwire keys list'] })
    .option('--limit <N>', 'at most this many keys; default: 50', wholeNumber, 50)
    .printsJson('print the keys as a JSON array')
    .asksServer()
    .action(async (options: ListOptions & ConnectionOptions) => {
      const client = await connect(env, options);
      await printList(client.keys.list(), options, [
        { title: 'key', value: ({ keyId }) => keyId },
        { title: 'ends with', value: ({ suffix }) => suffix },
        { title: 'role', value: ({ role }) => role },
        { title: 'name', value: ({ name }) => name, canShrink: true },
        { title: 'created', value: ({ createdAt }) => time(createdAt) },
        { title: 'revoked', value: ({ revokedAt }) => time(revokedAt) },
      ]);
    });
  keys
    .command('revoke')
    .explain({
      summary: 'revoke an API key',
      details: ['All servers refuse the key, and the client tokens that it made, within 5 seconds.'],
      examples: ['runwire keys revoke key_01HZX3'],
    })
    .argument('KEY_ID')
    .printsJson('print {"revoked"} as JSON')
    .asksServer()
    .action(async (keyId: string, options: ConnectionOptions & { readonly json?: true }) => {
      const client = await connect(env, options);
      await client.keys.revoke({ keyId });
      if (options.json) printJson({ revoked: keyId });
      else note(`The key ${keyId} is revoked.`);
    });
}

function addTokenCommands(program: CliCommand, { env }: Context): void {
  program
    .command('tokens')
    .explain({ summary: 'client tokens, with which a page speaks for one member' })
    .command('create')
    .explain({
      summary: 'create a client token for a member and print it',
      details: ['The member must be registered and active. The token ends with its time, its key or its member.'],
      examples: ['runwire tokens create user-42', 'runwire tokens create user-42 --can run,read,upload --expires 3600'],
    })
    .argument('MEMBER')
    .option('--can <LIST>', 'run, read, upload, files, answer; default: run,read', (text) => text.split(','))
    .option('--chat <ID>', 'the only chat that the token reaches')
    .option('--agent <NAME>', 'the only agent that the token can run')
    .option('--folder <PATH>', 'the only folder that the token reaches')
    .option('--context <JSON>', "the user_context of the token's runs")
    .option('--origin <ORIGIN>', 'a page that may use the token; may be repeated; default: every page', repeated)
    .option('--expires <SECONDS>', '30 to 3600; default: 600', wholeNumber)
    .printsJson('print the token with its fields as JSON')
    .asksIntegration()
    .action(async (consumerId: string, options: TokenOptions) => {
      const client = await connectToIntegration(env, options);
      const token = await client.tokens.create({ consumerId, ...tokenFields(options) });
      if (options.json) return printJson(token);
      print(token.clientToken);
      note(`It ends at ${time(token.expiresAt)} UTC.`);
    });
}

/** The server checks the values. */
function tokenFields({ can, chat, agent, folder, context, origin, expires }: TokenOptions) {
  return {
    can: can as CreateClientTokenRequest['can'],
    chatId: chat,
    agent,
    folder,
    userContext: jsonOption('--context', context),
    origins: origin && [...origin],
    expiresInSeconds: expires,
  };
}
