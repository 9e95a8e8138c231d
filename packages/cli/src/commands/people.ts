import type { CreatePersonRequest } from '@runwire/client';
import { Option } from 'commander';
import { type CliCommand, type Context, wholeNumber } from '../command.ts';
import { type ConnectionOptions, connect } from '../connection.ts';
import { UsageError } from '../exit-codes.ts';
import { type ListOptions, note, print, printFields, printJson, printList, time } from '../output.ts';

type Role = CreatePersonRequest['role'];

const ROLES: readonly Role[] = ['viewer', 'operator', 'developer', 'manager'];

export const roleOption = (flags: string, purpose: string) =>
  new Option(flags, `${purpose}: ${ROLES.join(', ')}`).choices(ROLES);

interface OneOptions extends ConnectionOptions {
  readonly name?: string;
  readonly email?: string;
  readonly role?: Role;
  readonly json?: true;
}

/** The commands about the people who sign in for the key's owner. */
export function addPeopleCommands(program: CliCommand, context: Context): void {
  const people = program
    .command('people')
    .explain({ summary: 'the people who sign in for the owner, and their roles' });
  addListCommand(people, context);
  addShowCommand(people, context);
  addInviteCommand(people, context);
  addUpdateCommand(people, context);
  addRemoveCommand(people, context);
}

function addListCommand(people: CliCommand, { env }: Context): void {
  people
    .command('list')
    .explain({ summary: 'list the people of the owner', examples: ['runwire people list'] })
    .option('--limit <N>', 'at most this many people; default: 50', wholeNumber, 50)
    .printsJson('print the people as a JSON array')
    .asksServer()
    .action(async (options: ListOptions & ConnectionOptions) => {
      const client = await connect(env, options);
      await printList(client.people.list(), options, [
        { title: 'person', value: ({ personId }) => personId },
        { title: 'e-mail', value: ({ email }) => email },
        { title: 'role', value: ({ role }) => role },
        { title: 'state', value: ({ state }) => state },
        { title: 'last seen', value: ({ lastSeenAt }) => time(lastSeenAt) },
        { title: 'name', value: ({ name }) => name, canShrink: true },
      ]);
    });
}

function addShowCommand(people: CliCommand, { env }: Context): void {
  people
    .command('show')
    .explain({ summary: 'show a person', examples: ['runwire people show per_01HZX3'] })
    .argument('PERSON_ID')
    .printsJson('print the person as JSON')
    .asksServer()
    .action(async (personId: string, options: OneOptions) => {
      const client = await connect(env, options);
      const person = await client.people.get({ personId });
      if (options.json) return printJson(person);
      const { email, name, role, state, lastSeenAt } = person;
      printFields({ person: personId, 'e-mail': email, name, role, state, 'last seen': time(lastSeenAt) });
    });
}

function addInviteCommand(people: CliCommand, { env }: Context): void {
  people
    .command('invite')
    .explain({
      summary: 'invite a person and print the link that sets a password',
      details: ['The link works once, within 24 hours. Send it like a password.'],
      examples: ['runwire people invite bo@example.com --role operator --name Bo'],
    })
    .argument('EMAIL')
    .addOption(roleOption('--role <ROLE>', 'what the person may do').makeOptionMandatory())
    .option('--name <NAME>', 'the name of the person')
    .printsJson('print the person with "setupLink" as JSON')
    .asksServer()
    .action(async (email: string, { name, role, json, ...options }: OneOptions & { readonly role: Role }) => {
      const client = await connect(env, options);
      const person = await client.people.create({ email, name, role });
      if (json) return printJson(person);
      print(person.setupLink);
      note(`The person is ${person.personId}.`);
    });
}

function addUpdateCommand(people: CliCommand, { env }: Context): void {
  people
    .command('update')
    .explain({
      summary: 'change the role, the name or the e-mail address of a person',
      examples: ['runwire people update per_01HZX3 --role viewer'],
    })
    .argument('PERSON_ID')
    .addOption(roleOption('--role <ROLE>', 'what the person may do'))
    .option('--name <NAME>', 'the name of the person')
    .option('--email <EMAIL>', 'the e-mail address, with which the person signs in')
    .printsJson('print the person as JSON')
    .asksServer()
    .action(async (personId: string, { name, email, role, json, ...options }: OneOptions) => {
      if (name === undefined && email === undefined && role === undefined) {
        throw new UsageError('Nothing would change; use --role, --name or --email.');
      }
      const client = await connect(env, options);
      const person = await client.people.update({ personId, name, email, role });
      if (json) printJson(person);
      else note(`The person ${personId} has the role ${person.role}.`);
    });
}

function addRemoveCommand(people: CliCommand, { env }: Context): void {
  people
    .command('remove')
    .explain({
      summary: 'remove a person; the keys that the person made stay',
      examples: ['runwire people remove per_01HZX3'],
    })
    .argument('PERSON_ID')
    .printsJson('print {"removed"} as JSON')
    .asksServer()
    .action(async (personId: string, options: OneOptions) => {
      const client = await connect(env, options);
      await client.people.delete({ personId });
      if (options.json) printJson({ removed: personId });
      else note(`The person ${personId} is removed.`);
    });
}
