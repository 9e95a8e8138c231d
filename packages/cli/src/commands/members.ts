import type { Member, PutMemberRequest } from '@runwire/client';
import { type CliCommand, type Context, wholeNumber } from '../command.ts';
import { connectToIntegration, type IntegrationOptions } from '../connection.ts';
import { EXIT, UsageError } from '../exit-codes.ts';
import { type ListOptions, note, printFields, printJson, printList, time } from '../output.ts';
import { jsonOption } from '../request-options.ts';

interface SetOptions extends IntegrationOptions {
  readonly name?: string;
  readonly active?: true;
  readonly inactive?: true;
  readonly limit?: string;
  readonly metadata?: string;
  readonly json?: true;
}

interface AdjustOptions extends IntegrationOptions {
  readonly reason: string;
  readonly key: string;
  readonly json?: true;
}

interface DeleteOptions extends IntegrationOptions {
  readonly erase?: true;
  readonly json?: true;
}

const ONE = 'print the member as JSON';

export function addMemberCommands(program: CliCommand, context: Context): void {
  const members = program.command('members').explain({ summary: 'the users of your product' });
  addListCommand(members, context);
  addShowCommand(members, context);
  addSetCommand(members, context);
  addAdjustCommand(members, context);
  addAdjustmentsCommand(members, context);
  addDeleteCommand(members, context);
  addErasureCommand(members, context);
}

function addListCommand(members: CliCommand, { env }: Context): void {
  members
    .command('list')
    .explain({
      summary: 'list members with their allowances',
      examples: ['runwire members list', 'runwire members list --search ann'],
    })
    .option('--search <TEXT>', 'only members whose id, or a word of whose name, begins with this text')
    .option('--limit <N>', 'at most this many members; default: 50', wholeNumber, 50)
    .printsJson('print the members as a JSON array')
    .asksIntegration()
    .action(async ({ search, ...options }: ListOptions & IntegrationOptions & { readonly search?: string }) => {
      const client = await connectToIntegration(env, options);
      await printList(client.members.list({ q: search }), options, [
        { title: 'member', value: ({ consumerId }) => consumerId },
        { title: 'active', value: ({ active }) => (active ? 'yes' : 'no') },
        { title: 'used', value: ({ allowance }) => allowance?.used },
        { title: 'limit', value: ({ allowance }) => allowance?.limit },
        { title: 'unit', value: ({ allowance }) => allowance && `${allowance.unit}/${allowance.period}` },
        { title: 'name', value: ({ name }) => name, canShrink: true },
      ]);
    });
}

function addShowCommand(members: CliCommand, { env }: Context): void {
  members
    .command('show')
    .explain({ summary: 'show a member', examples: ['runwire members show user-42'] })
    .argument('MEMBER')
    .printsJson(ONE)
    .asksIntegration()
    .action(async (consumerId: string, options: IntegrationOptions & { readonly json?: true }) => {
      const client = await connectToIntegration(env, options);
      printMember(await client.members.get({ consumerId }), options);
    });
}

function addSetCommand(members: CliCommand, { env }: Context): void {
  members
    .command('set')
    .explain({
      summary: 'register a member, or change one',
      details: ['Fields that are not named keep their values.'],
      examples: ['runwire members set user-42 --name Ada --limit 500', 'runwire members set user-42 --inactive'],
    })
    .argument('MEMBER')
    .option('--name <NAME>', 'the name for people')
    .option('--active', 'the member may start runs')
    .option('--inactive', 'the member may not start runs')
    .option('--limit <N>', "the member's own limit, or `default` for that of the integration")
    .option('--metadata <JSON>', 'data of your own')
    .printsJson(ONE)
    .asksIntegration()
    .action(async (consumerId: string, options: SetOptions) => {
      const fields = memberFields(options);
      const client = await connectToIntegration(env, options);
      printMember(await client.members.put({ consumerId, ...fields }), options);
    });
}

function memberFields({ name, active, inactive, limit, metadata }: SetOptions): PutMemberRequest {
  if (active && inactive) throw new UsageError('Use either --active or --inactive.');
  if (limit !== undefined && limit !== 'default' && !/^\d{1,15}$/.test(limit)) {
    throw new UsageError(`--limit is \`${limit}\`; write a whole number, or \`default\`.`);
  }
  return {
    name,
    active: active || inactive ? active === true : undefined,
    allowance: limit === 'default' ? null : limit === undefined ? undefined : { limit: Number(limit) },
    metadata: jsonOption('--metadata', metadata),
  };
}

function addAdjustCommand(members: CliCommand, { env }: Context): void {
  members
    .command('adjust')
    .explain({
      summary: 'give a member back what it used, or take it',
      details: [
        "The amount is in the unit of the integration's allowance. A positive one is given back; write a negative one after `--`.",
        'The same --key never counts twice.',
      ],
      examples: [
        'runwire members adjust user-42 10 --reason "Bad answer" --key ticket-7',
        'runwire members adjust --reason "Correction" --key ticket-8 user-42 -- -10',
      ],
    })
    .argument('MEMBER')
    .argument('AMOUNT')
    .requiredOption('--reason <TEXT>', 'why, for people')
    .requiredOption('--key <ID>', 'your own id for the adjustment')
    .printsJson('print the adjustment as JSON')
    .asksIntegration()
    .action(async (consumerId: string, amount: string, { reason, key, json, ...options }: AdjustOptions) => {
      if (!/^-?\d+(\.\d+)?$/.test(amount)) throw new UsageError(`The amount is \`${amount}\`; write a number.`);
      const client = await connectToIntegration(env, options);
      const { allowance } = await client.members.get({ consumerId });
      if (allowance === null) throw new Error('The integration has no allowances; switch them on first.');
      const adjustment = await client.members.adjust({
        ...{ consumerId, unit: allowance.unit, amount: Number(amount), reason, idempotencyKey: key },
      });
      if (json) return printJson(adjustment);
      note(`Applied: ${adjustment.applied} ${adjustment.unit}.`);
    });
}

function addAdjustmentsCommand(members: CliCommand, { env }: Context): void {
  members
    .command('adjustments')
    .explain({ summary: 'list the adjustments of a member', examples: ['runwire members adjustments user-42'] })
    .argument('MEMBER')
    .option('--limit <N>', 'at most this many adjustments; default: 50', wholeNumber, 50)
    .printsJson('print the adjustments as a JSON array')
    .asksIntegration()
    .action(async (consumerId: string, options: ListOptions & IntegrationOptions) => {
      const client = await connectToIntegration(env, options);
      await printList(client.members.adjustments({ consumerId }), options, [
        { title: 'adjustment', value: ({ adjustmentId }) => adjustmentId },
        { title: 'created', value: ({ createdAt }) => time(createdAt) },
        { title: 'applied', value: ({ applied }) => applied },
        { title: 'unit', value: ({ unit }) => unit },
        { title: 'key', value: ({ idempotencyKey }) => idempotencyKey },
        { title: 'reason', value: ({ reason }) => reason, canShrink: true },
      ]);
    });
}

function addDeleteCommand(members: CliCommand, { env }: Context): void {
  members
    .command('delete')
    .explain({
      summary: 'delete a member, or erase the person',
      details: ['With --erase everything that is stored of the person is deleted; docs/erasure.md explains it.'],
      examples: ['runwire members delete user-42', 'runwire members delete user-42 --erase'],
    })
    .argument('MEMBER')
    .option('--erase', 'erase the person: chats, runs, files')
    .printsJson('print {"deleted"}, or the erasure, as JSON')
    .asksIntegration()
    .action(async (consumerId: string, { erase, json, ...options }: DeleteOptions) => {
      const client = await connectToIntegration(env, options);
      const erasure = await client.members.delete({ consumerId, erase });
      if (json) printJson(erasure ?? { deleted: consumerId });
      else if (erase) note(`The erasure is accepted; \`runwire members erasure ${consumerId}\` shows its end.`);
      else note(`The member ${consumerId} is deleted.`);
    });
}

function addErasureCommand(members: CliCommand, { env }: Context): void {
  members
    .command('erasure')
    .explain({
      summary: 'show how far the erasure of a person is',
      details: [
        'An erasure is kept for 30 days after its end.',
        `Exit code ${EXIT.incomplete}: something of the person is still stored.`,
      ],
      examples: ['runwire members erasure user-42'],
    })
    .argument('MEMBER')
    .printsJson('print the erasure as JSON')
    .asksIntegration()
    .action(async (consumerId: string, options: IntegrationOptions & { readonly json?: true }) => {
      const client = await connectToIntegration(env, options);
      const { json } = options;
      const erasure = await client.members.erasure({ consumerId });
      const { status, startedAt, finishedAt } = erasure;
      if (json) printJson(erasure);
      else printFields({ member: consumerId, status, started: time(startedAt), finished: time(finishedAt) });
      if (status !== 'erased') process.exitCode = EXIT.incomplete;
    });
}

function printMember(member: Member, { json }: { readonly json?: true }): void {
  const { allowance } = member;
  if (json) {
    printJson(member);
    return;
  }
  printFields({
    member: member.consumerId,
    name: member.name,
    active: member.active ? 'yes' : 'no',
    allowance:
      allowance === null
        ? 'off'
        : `${allowance.used} of ${allowance.limit} ${allowance.unit} used, ${allowance.remaining} remain`,
    resets: time(allowance?.resetAt),
    'own limit': member.ownLimit,
    folder: member.folder,
    created: time(member.createdAt),
    updated: time(member.updatedAt),
  });
}
