import { Type } from 'typebox';
import { named, oneOfStrings } from './kit.ts';

export const Health = named('Health', Type.Object({ status: oneOfStrings(['ok']) }));

export const Readiness = named(
  'Readiness',
  Type.Object({ status: oneOfStrings(['ok']), store: oneOfStrings(['sqlite', 'postgres']) }),
);
