import { type Kysely, sql } from 'kysely';
import type { StoreKind } from '../store.ts';

/** `add_measures` adds several objects with commas between them. */
export async function up(db: Kysely<unknown>, kind: StoreKind): Promise<void> {
  if (kind === 'sqlite') return;
  await sql
    .raw(`create or replace function add_measures(one text, other text) returns text language plpgsql immutable as $$
begin
  return (select coalesce(jsonb_object_agg(name, total), '{}')::text from (
    select measure.key as name, sum(measure.value::bigint) as total
      from jsonb_array_elements(('[' || one || ',' || other || ']')::jsonb) as part, jsonb_each_text(part) as measure
      group by measure.key) totals);
end $$`)
    .execute(db);
}
