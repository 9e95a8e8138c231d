import { pipeline } from 'node:stream/promises';
import { type CliCommand, type Context, wholeNumber } from '../command.ts';
import { type ConnectionOptions, connect } from '../connection.ts';
import { UsageError } from '../exit-codes.ts';
import { type ListOptions, printList, time } from '../output.ts';
import { timeOption } from '../request-options.ts';

interface AuditOptions extends ListOptions, ConnectionOptions {
  readonly actor?: string;
  readonly operation?: string;
  readonly target?: string;
  readonly from?: string;
  readonly to?: string;
  readonly csv?: true;
}

export function addAuditCommand(program: CliCommand, { env }: Context): void {
  program
    .command('audit')
    .explain({
      summary: 'list who changed what',
      details: ['Only a manager may. --csv prints all events, whatever --limit is.'],
      examples: ['runwire audit --operation createApiKey', 'runwire audit --from 2026-11-01 --csv > november.csv'],
    })
    .option('--actor <ID>', 'only changes by this person, key or member')
    .option('--operation <ID>', 'only changes by this operation')
    .option('--target <KIND:ID>', 'only changes of this target, such as key:key_01HZX3')
    .option('--from <DATE>', 'the first day, or the exact time')
    .option('--to <DATE>', 'the day or time at which it ends, not included')
    .option('--csv', 'print CSV')
    .option('--limit <N>', 'at most this many events; default: 50', wholeNumber, 50)
    .printsJson('print the events as a JSON array')
    .asksServer()
    .action(async (options: AuditOptions) => {
      const { actor, operation, target, csv, json } = options;
      if (csv && json) throw new UsageError('Use either --csv or --json.');
      const [from, to] = [timeOption('--from', options.from), timeOption('--to', options.to)];
      const filters = { actor, operation, target, from, to };
      const client = await connect(env, options);
      if (csv) {
        const { body } = await client.audit.csv(filters);
        if (body !== null) await pipeline(body, process.stdout, { end: false });
        return;
      }
      await printList(client.audit.list(filters), options, [
        { title: 'time', value: ({ at }) => time(at) },
        { title: 'actor', value: ({ actor: who }) => who.name ?? who.id, canShrink: true },
        { title: 'operation', value: ({ operation: id }) => id },
        { title: 'target', value: ({ target: what }) => what, canShrink: true },
        { title: 'fields', value: ({ changes }) => Object.keys(changes ?? {}).join(' '), canShrink: true },
      ]);
    });
}
