import { count, flag, named, nullable, oneOfStrings, recordSchema, text, time, toList } from './kit.ts';
import { Type } from './type.ts';

const status = () => oneOfStrings(['ok'], { description: '`ok`.' });

export const Health = named('Health', Type.Object({ status: status() }, { description: 'The process is alive.' }));

export const Readiness = named(
  'Readiness',
  Type.Object(
    {
      status: status(),
      store: oneOfStrings(['sqlite', 'postgres'], { description: 'The database of this node.' }),
      sandbox: Type.Object(
        {
          kind: oneOfStrings(['bubblewrap', 'just-bash', 'exec', 'off'], {
            description: '`off` if this node runs no commands.',
          }),
          proc: Type.Optional(flag('Only with `bubblewrap`: true if commands have their own `/proc`.')),
          memory: Type.Optional(
            oneOfStrings(['cgroup', 'watch'], {
              description:
                'Only with `bubblewrap`: `cgroup` if the kernel limits the memory of a command, `watch` if the node does.',
            }),
          ),
        },
        { description: 'The sandbox in which this node runs commands.' },
      ),
    },
    { description: 'The node accepts requests.' },
  ),
);

const nodeStats = Type.Object(
  {
    openStreams: count('Number of open streams of runs.'),
    admissions: Type.Object(
      {
        admitted: count('Requests that started a run.'),
        replayed: count('Requests that were answered with the run of an earlier request.'),
        refused: recordSchema(count('Number of requests.'), {
          description: 'Refused requests by the `code` of the error. Codes without requests are left out.',
        }),
      },
      { description: 'Completion requests since the process was started.' },
    ),
    eventLagMs: count(
      'Longest time from an event until it was stored, within the last 10 to 20 s. Readers do not wait for this.',
    ),
    writerQueue: count('Number of transactions that wait for the writer.'),
  },
  {
    description:
      'Figures of the node at its last heartbeat. Null before its second heartbeat, and for an earlier version.',
  },
);

export const ServiceNode = named(
  'ServiceNode',
  Type.Object(
    {
      nodeId: text('Identifier of the node; a node that was fenced registers with a new one.'),
      boot: text('Identifier of the process; every start has a new one.'),
      state: oneOfStrings(['alive', 'draining', 'dead'], {
        description: '`draining` while it shuts down, `dead` if it has stopped or was fenced.',
      }),
      self: flag('True for the node that answers this request.'),
      version: text('Version of the server.'),
      host: nullable(text('Name of its machine. Null if an earlier version registered the node.')),
      address: nullable(
        text(
          'The address at which it listens, such as `10.0.0.11:8787`. Null while it starts, and for an earlier version.',
        ),
      ),
      startedAt: time('When the node was started.'),
      lastSeenAt: nullable(time('When the node last sent a heartbeat. Null if it has sent none.')),
      activeRuns: Type.Integer({ description: 'Number of its unfinished runs.' }),
      stats: nullable(nodeStats),
    },
    { description: 'A node of this installation.' },
  ),
);

export const ServiceNodeList = toList('ServiceNodeList', ServiceNode);
