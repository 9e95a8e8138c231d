import { Type } from 'typebox';
import { count, listOf, named, oneOfStrings, time } from './kit.ts';

export const Node = named(
  'Node',
  Type.Object({
    nodeId: Type.String(),
    boot: Type.String(),
    state: oneOfStrings(['alive', 'draining', 'dead']),
    self: Type.Boolean({ description: 'True for the node that answers.' }),
    version: Type.String(),
    startedAt: time(),
    lastSeenAt: time(),
    activeRuns: count(),
  }),
);

export const NodeList = listOf('NodeList', Node);

export const Health = named('Health', Type.Object({ status: oneOfStrings(['ok']) }));

export const Readiness = named(
  'Readiness',
  Type.Object({ status: oneOfStrings(['ok']), store: oneOfStrings(['sqlite', 'postgres']) }),
);
