import { listOf, named, nullable, oneOfStrings, time } from './kit.ts';
import { Type } from './type.ts';

export const Health = named('Health', Type.Object({ status: oneOfStrings(['ok']) }));

export const Readiness = named(
  'Readiness',
  Type.Object({ status: oneOfStrings(['ok']), store: oneOfStrings(['sqlite', 'postgres']) }),
);

export const ServiceNode = named(
  'ServiceNode',
  Type.Object({
    nodeId: Type.String(),
    boot: Type.String(),
    state: oneOfStrings(['alive', 'draining', 'dead']),
    self: Type.Boolean({ description: 'Whether this is the node that answers.' }),
    version: Type.String(),
    host: nullable(Type.String({ description: 'The name of its machine. Null if an earlier version registered it.' })),
    address: nullable(
      Type.String({
        description:
          'The address at which it listens, such as `10.0.0.11:8787`. Null while it starts, and for an earlier version.',
      }),
    ),
    startedAt: time(),
    lastSeenAt: nullable(time()),
    activeRuns: Type.Integer({ description: 'Its unfinished runs.' }),
  }),
);

export const ServiceNodeList = listOf('ServiceNodeList', ServiceNode);
