import type { Me } from '@runwire/client';
import { type CliCommand, type Context, wholeNumber } from '../command.ts';
import { type ConnectionOptions, connect } from '../connection.ts';
import { UsageError } from '../exit-codes.ts';
import { type ListOptions, note, print, printFields, printJson, printList, time } from '../output.ts';

interface OneOptions extends ConnectionOptions {
  readonly name?: string;
  readonly email?: string;
  readonly json?: true;
}

/** The commands about an installation's owners, and about the key's owner. */
export function addOwnerCommands(program: CliCommand, context: Context): void {
  const owners = program.command('owners').explain({ summary: 'the people who own integrations' });
  addListCommand(owners, context);
  addCreateCommand(owners, context);
  addDeleteCommand(owners, context);
  addLinkCommand(owners, context);
  addMeCommands(program, context);
}

function addListCommand(owners: CliCommand, { env }: Context): void {
  owners
    .command('list')
    .explain({
      summary: 'list the owners; only an administrator may',
      examples: ['runwire owners list'],
    })
    .option('--limit <N>', 'at most this many owners; default: 50', wholeNumber, 50)
    .printsJson('print the owners as a JSON array')
    .asksServer()
    .action(async (options: ListOptions & ConnectionOptions) => {
      const client = await connect(env, options);
      await printList(client.owners.list(), options, [
        { title: 'owner', value: ({ ownerId }) => ownerId },
        { title: 'e-mail', value: ({ email }) => email },
        { title: 'administrator', value: ({ administrator }) => (administrator ? 'yes' : 'no') },
        { title: 'created', value: ({ createdAt }) => time(createdAt) },
        { title: 'name', value: ({ name }) => name, canShrink: true },
      ]);
    });
}

function addCreateCommand(owners: CliCommand, { env }: Context): void {
  owners
    .command('create')
    .explain({
      summary: 'create an owner and print its first API key once',
      details: ['Only an administrator may. Standard error has a link with which the owner sets a password.'],
      examples: ['runwire owners create ann@example.com --name Ann'],
    })
    .argument('EMAIL')
    .option('--name <NAME>', 'the name for people')
    .printsJson('print the owner with "apiKey" and "setupLink" as JSON')
    .asksServer()
    .action(async (email: string, { name, json, ...options }: OneOptions) => {
      const client = await connect(env, options);
      const owner = await client.owners.create({ email, name });
      if (json) return printJson(owner);
      print(owner.apiKey);
      note(`The owner is ${owner.ownerId}. The link for the password, valid for 24 hours: ${owner.setupLink}`);
    });
}

function addDeleteCommand(owners: CliCommand, { env }: Context): void {
  owners
    .command('delete')
    .explain({
      summary: 'delete an owner that has no integrations',
      details: ['Only an administrator may.'],
      examples: ['runwire owners delete own_01HZX3'],
    })
    .argument('OWNER_ID')
    .printsJson('print {"deleted"} as JSON')
    .asksServer()
    .action(async (ownerId: string, options: OneOptions) => {
      const client = await connect(env, options);
      await client.owners.delete({ ownerId });
      if (options.json) printJson({ deleted: ownerId });
      else note(`The owner ${ownerId} is deleted.`);
    });
}

function addLinkCommand(owners: CliCommand, { env }: Context): void {
  owners
    .command('link')
    .explain({
      summary: 'create a link with which an owner sets e-mail and password',
      details: [
        'It works in the installation of this machine, which it finds by the same environment variables as the server. Servers may be running.',
        'Without EMAIL the link is for the first owner. It works once, within 24 hours, and replaces the earlier link of the same owner.',
      ],
      examples: ['runwire owners link ann@example.com', 'runwire owners link'],
    })
    .argument('[EMAIL]')
    .printsJson('print {"setupLink"} as JSON')
    .action(async (email: string | undefined, { json }: { readonly json?: true }) => {
      const setupLink = await (await import('@runwire/server')).createOwnerLink(env, email ?? null);
      if (json) printJson({ setupLink });
      else print(setupLink);
    });
}

function addMeCommands(program: CliCommand, { env }: Context): void {
  const me = program.command('me').explain({ summary: "the API key's owner" });
  me.command('show')
    .explain({ summary: "show the API key's owner", examples: ['runwire me show'] })
    .printsJson('print the owner as JSON')
    .asksServer()
    .action(async (options: OneOptions) => {
      const client = await connect(env, options);
      printMe(await client.me.get(), options);
    });
  me.command('update')
    .explain({
      summary: 'change the name or the e-mail address of the owner',
      examples: ['runwire me update --name Ann --email ann@example.com'],
    })
    .option('--name <NAME>', 'the name for people')
    .option('--email <EMAIL>', 'the e-mail address, with which the owner signs in')
    .printsJson('print the owner as JSON')
    .asksServer()
    .action(async ({ name, email, ...options }: OneOptions) => {
      if (name === undefined && email === undefined) {
        throw new UsageError('Nothing would change; use --name or --email.');
      }
      const fields = { name, email };
      const client = await connect(env, options);
      printMe(await client.me.update(fields), options);
    });
}

function printMe(me: Me, { json }: { readonly json?: true }): void {
  if (json) {
    printJson(me);
    return;
  }
  const { ownerId: owner, name, email: address, administrator } = me;
  printFields({ owner, name, 'e-mail': address, administrator: administrator ? 'yes' : 'no' });
}
