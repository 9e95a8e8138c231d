import { readFileSync, writeFileSync } from 'node:fs';
import { startTestServer } from '@runwire/server/testing';

/** Writes the description that the server itself serves; with `--check` only compares. */
const FILE = new URL('../docs/openapi.json', import.meta.url);

await using server = await startTestServer({
  env: {
    RUNWIRE_PUBLIC_URL: 'https://agents.example.com',
    RUNWIRE_STAGING_URL: 'https://staging.agents.example.com',
  },
});
const served = await (await fetch(`${server.url}/openapi.json`)).json();
const text = `${JSON.stringify(served, null, 2)}\n`;
if (!process.argv.includes('--check')) writeFileSync(FILE, text);
else if (readFileSync(FILE, 'utf8') !== text) {
  process.stderr.write('docs/openapi.json is not what the server serves; run `npm run openapi` and commit it.\n');
  process.exitCode = 1;
}
