import { listOf, named, nullable, oneOfStrings } from './kit.ts';
import { Type } from './type.ts';

export const Agency = named(
  'Agency',
  Type.Object({
    agency: Type.String(),
    name: nullable(Type.String()),
    defaultAgent: nullable(Type.String()),
    entryPoints: Type.Array(Type.String()),
    agents: Type.Array(
      Type.Object({
        name: Type.String(),
        description: nullable(Type.String()),
        model: nullable(Type.String()),
        tools: Type.Array(Type.String()),
      }),
    ),
    flows: Type.Array(
      Type.Object({ from: Type.String(), to: Type.String(), kind: oneOfStrings(['handoff', 'delegate']) }),
    ),
    error: nullable(Type.String({ description: 'Why the agency could not be loaded; null when it could.' })),
  }),
);

export const AgencyList = listOf('AgencyList', Agency);
