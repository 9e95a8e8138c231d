import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compose } from '../packages/server/src/compose/compose.ts';
import { readConfig } from '../packages/server/src/config/read-config.ts';

/** Writes the descriptions that the server itself serves; with `--check` only compares. */
const FILES = ['openapi.json', 'agency.schema.json', 'evals.schema.json'];

const folder = mkdtempSync(join(tmpdir(), 'runwire-openapi-'));
const { config, secrets } = readConfig({
  PORT: '0',
  RUNWIRE_DATA_DIR: folder,
  RUNWIRE_LOG_LEVEL: 'silent',
  RUNWIRE_SANDBOX: 'off',
  RUNWIRE_PUBLIC_URL: 'https://agents.example.com',
  RUNWIRE_STAGING_URL: 'https://staging.agents.example.com',
});
await using cleanUp = new AsyncDisposableStack();
cleanUp.defer(() => rmSync(folder, { recursive: true }));
const server = cleanUp.use(
  await compose(config, secrets, (error) => {
    throw error;
  }),
);
for (const name of FILES) {
  const served = await (await fetch(`${server.url}/${name}`)).json();
  const text = `${JSON.stringify(served, null, 2)}\n`;
  const file = new URL(`../docs/${name}`, import.meta.url);
  if (!process.argv.includes('--check')) writeFileSync(file, text);
  else if (readFileSync(file, 'utf8') !== text) {
    process.stderr.write(`docs/${name} is not what the server serves; run \`npm run openapi\` and commit it.\n`);
    process.exitCode = 1;
  }
}
