import { type CliCommand, type Context, wholeNumber } from '../command.ts';
import { type ConnectionOptions, connect } from '../connection.ts';
import { type ListOptions, printJson, printList, time } from '../output.ts';

export function addNodeCommands(program: CliCommand, { env }: Context): void {
  const nodes = program.command('nodes').explain({ summary: 'the nodes of an installation' });
  nodes
    .command('list')
    .explain({
      summary: 'list the nodes with their runs; only an administrator may',
      examples: ['runwire nodes list'],
    })
    .option('--limit <N>', 'at most this many nodes; default: 50', wholeNumber, 50)
    .printsJson('print the nodes as a JSON array')
    .asksServer()
    .action(async (options: ListOptions & ConnectionOptions) => {
      const client = await connect(env, options);
      await printList(client.nodes.list(), options, [
        { title: 'node', value: ({ nodeId }) => nodeId },
        { title: 'state', value: ({ state }) => state },
        { title: 'runs', value: ({ activeRuns }) => activeRuns },
        { title: 'streams', value: ({ stats }) => stats?.openStreams },
        { title: 'seen', value: ({ lastSeenAt }) => time(lastSeenAt) },
        { title: 'version', value: ({ version }) => version },
        { title: 'address', value: ({ address, host }) => address ?? host, canShrink: true },
      ]);
    });
  nodes
    .command('metrics')
    .explain({
      summary: 'print the metrics of the node that answers',
      details: ['They are in the text format of Prometheus.'],
      examples: ['runwire nodes metrics | grep ^runwire_runs'],
    })
    .printsJson('print {"metrics"} as JSON')
    .asksServer()
    .action(async ({ json, ...options }: ConnectionOptions & { readonly json?: true }) => {
      const client = await connect(env, options);
      const metrics = await (await client.nodes.metrics()).text();
      if (json) printJson({ metrics });
      else process.stdout.write(metrics);
    });
}
