import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { readSection, type SchemaSection, schemaFile, schemaSections, toSchema } from './support/schema-text.ts';
import { missingService } from './support/services.ts';

for (const section of Object.keys(schemaSections) as SchemaSection[]) {
  const skip = section === 'postgres' ? ((await missingService('postgres')) ?? false) : false;
  test(`docs/schema.sql contains the ${section} tables after all migrations`, { skip }, async () => {
    const written = readSection(readFileSync(schemaFile, 'utf8'), section);
    assert.equal(await toSchema(section), written, 'run `npm run schema` and commit docs/schema.sql');
  });
}
