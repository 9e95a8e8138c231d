import type { DatabaseSync } from 'node:sqlite';
import { addMeasuresJson } from '../../domain/run/measures.ts';

/** Functions that statements use. PostgreSQL has them from a migration. */
export function defineFunctions(database: DatabaseSync): void {
  database.function('add_measures', { deterministic: true }, (one, other) =>
    addMeasuresJson(String(one), String(other)),
  );
}
