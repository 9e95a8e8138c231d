import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { FileServer, SAMPLE_IMAGES, startTestServer, TEST_API_KEY, temporaryFolder } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { listSamples } from './support/doc-samples.ts';
import { refusal } from './support/scripted-server.ts';
import { missingService } from './support/services.ts';

const run = promisify(execFile);
const skip = (await missingService('curl')) ?? false;

const samples = ['docs/attachments.md', 'docs/attachment-links.md'].flatMap((page) => listSamples(page, 'sh'));
const report = readFileSync(new URL('../packages/documents/src/fixtures/ghostscript.pdf', import.meta.url));

const forTheRegion = (said: string) => said.includes('--region eu-central-1 ');
const forAnHour = (said: string) => said.includes('--duration=1h ');
/** True if the expiry is in the future and in the form that Azure requires. */
const untilThen = (said: string) => {
  const [, expiry = ''] = /--expiry (\d{4}-\d\d-\d\dT\d\d:\d\dZ) /.exec(said) ?? [];
  return Date.parse(expiry) > Date.now();
};

/** The signed links of each cloud: a link that expired before 2020, and its replacement. */
const CLOUDS = [
  ['s3', 'X-Amz-Date=20200101T000000Z&X-Amz-Expires=900&X-Amz-Signature=old', '/2026/q3.pdf', forTheRegion],
  [
    'gcs',
    'X-Goog-Date=20200101T000000Z&X-Goog-Expires=900&X-Goog-Signature=old',
    '/example-reports/2026/q3.pdf',
    forAnHour,
  ],
  ['azure', 'sv=2022-11-02&sr=b&sp=r&se=2020-01-01T00%3A00Z&sig=old', '/reports/2026/q3.pdf', untilThen],
] as const;

/**
 * Runs a sample as pasted, except that its files are in this folder and that the programs of the clouds are replaced:
 * they print their answer, and their arguments to the standard error.
 */
async function paste(t: TestContext, sample: string, env: Readonly<Record<string, string>>, files: FileServer) {
  const folder = temporaryFolder();
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const here = sample.replaceAll(/https:\/\/[a-z0-9.-]+\//g, files.url('/'));
  const signers = ['aws', 'gcloud', 'az']
    .map((name) => `${name}() { echo "$*" >&2; printf '%s' "$SIGNED"; }`)
    .join('\n');
  const script = `set -e\ncurl() { command curl -sS --fail-with-body "$@"; echo; }\n${signers}\n${here}`;
  return await run('sh', ['-c', script], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, ...env },
    timeout: 60_000,
  });
}

test('the samples about attachments work as pasted', { skip }, async (t) => {
  cites(t, 'contract-7-refresh-missing');
  await using files = await FileServer.start();
  using _ = files.trustHere();
  await using server = await startTestServer({ env: { RUNWIRE_FETCH_ALLOW: files.allow } });
  const [attach = '', switchOff = '', ...refreshes] = samples;
  const settings = { URL: server.url, KEY: TEST_API_KEY };

  files.serve('/2026/q3.pdf', report, 'application/pdf');
  files.serve('/2026/chart.png', Buffer.from(SAMPLE_IMAGES['image/png'], 'base64'), 'image/png');
  const shown = (await paste(t, attach, settings, files)).stdout.replaceAll(/^(?!data:.*"delta").*\n/gm, '');
  const said = [...shown.matchAll(/"delta":"((?:[^"\\]|\\.)*)"/g)]
    .map(([, delta]) => JSON.parse(`"${delta}"`))
    .join('');
  assert.match(said, /1 image came with it: image\/png of 70 bytes/);
  assert.match(said, /1 file came with it: Third quarter\.pdf, application\/pdf of \d+ characters/);

  assert.match((await paste(t, switchOff, settings, files)).stdout, /"keepAttachments":false/);

  assert.equal(refreshes.length, CLOUDS.length);
  for (const [index, [chatId, expired, path, isAsked]] of CLOUDS.entries()) {
    files.serve(path, report, 'application/pdf');
    const attachments = [{ type: 'input_file', file_url: `${files.url(path)}?${expired}` }];
    await (await server.api.complete({ chatId, attachments })).whole();
    const asked = files.asked(path).length;
    const { status, body } = await refusal(await server.api.complete({ chatId, message: 'And the totals?' }));
    assert.deepEqual([status, body.code], [400, 'invalid_attachment_refresh'], chatId);
    assert.ok(body.error.includes(files.url(path)) && !body.error.includes('old'), body.error);
    const fresh = expired.replace('2020', '2099').replace('old', 'new');
    const { stdout, stderr } = await paste(
      t,
      refreshes[index] ?? '',
      { ...settings, SIGNED: `${files.url(path)}?${fresh}` },
      files,
    );
    assert.match(stdout, /"status":"completed"[\s\S]*event: end\n/, chatId);
    assert.ok(isAsked(stderr), stderr);
    assert.deepEqual(
      files
        .asked(path)
        .slice(asked)
        .map(({ query }) => query),
      [`?${fresh}`],
    );
  }
});
