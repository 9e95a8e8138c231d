import { writeFileSync } from 'node:fs';
import { schemaFile, toSchema } from '../test/support/schema-text.ts';

/** Writes docs/schema.sql: the tables of both stores after all migrations. test/schema.test.ts compares it. */
const text = `-- The tables after all migrations. Written by \`npm run schema\`; do not edit.

${await toSchema('sqlite')}
${await toSchema('postgres')}`;
writeFileSync(schemaFile, text);
process.stdout.write(text);
