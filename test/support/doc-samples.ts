import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, globSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import { temporaryFolder } from '@runwire/test-kit';
import { root } from './cli-process.ts';

export const run = promisify(execFile);

/** Languages of fences that a reader can paste. A fence without a language is an illustration. */
export type SampleLanguage =
  | 'sh'
  | 'ts'
  | 'js'
  | 'jsx'
  | 'python'
  | 'html'
  | 'json'
  | 'nginx'
  | 'sql'
  | 'yaml'
  | 'markdown';

/**
 * The number of samples of each page, by language. Tests run them; a page with other samples fails `docs.test.ts`. JSON and
 * YAML are parsed, and JSON of `s3.md` is sent to a real S3 server. The proof `fresh-clone` runs the commands that install
 * and start the project; for the commands of CONTRIBUTING.md a test checks that their scripts and files exist.
 */
export const SAMPLES: Readonly<Record<string, Partial<Record<SampleLanguage, number>>>> = {
  'README.md': { sh: 3 },
  'CONTRIBUTING.md': { sh: 3 },
  'docs/accounts.md': { sh: 7, json: 2 },
  'docs/ag-ui.md': { ts: 1 },
  'docs/agencies.md': { yaml: 1, markdown: 1, json: 1 },
  'docs/ai-sdk.md': { js: 1, jsx: 1 },
  'docs/agency-swarm-clients.md': { sh: 1, python: 1 },
  'docs/agency-process.md': { yaml: 1, ts: 1 },
  'docs/attachment-links.md': { sh: 4 },
  'docs/attachments.md': { sh: 1, json: 1 },
  'docs/audit.md': { sh: 1, json: 1 },
  'docs/backup.md': { sh: 2 },
  'docs/chats.md': { sh: 7, json: 1 },
  'docs/imported-history.md': { json: 1 },
  'docs/client-python.md': { sh: 1, python: 9 },
  'docs/client-tokens.md': { sh: 1, js: 1 },
  'docs/client.md': { ts: 9 },
  'docs/command-line.md': { sh: 7 },
  'docs/commands.md': { yaml: 1, markdown: 1 },
  'docs/conditions.md': { ts: 1, yaml: 1 },
  'docs/console.md': { nginx: 1 },
  'docs/erasure.md': { sh: 1, json: 1 },
  'docs/evals.md': { sh: 1, yaml: 2 },
  'docs/errors.md': { json: 1 },
  'docs/files.md': { sh: 4, js: 1, html: 1, json: 1 },
  'docs/first-agency.md': { sh: 7, yaml: 2, ts: 1 },
  'docs/first-steps.md': { sh: 5 },
  'docs/forks.md': { sh: 1 },
  'docs/from-agency-swarm.md': { yaml: 1, ts: 1 },
  'docs/from-claude-agents.md': { yaml: 1, markdown: 2 },
  'docs/from-crewai.md': { yaml: 1, json: 1 },
  'docs/from-google-adk.md': { yaml: 1, ts: 1 },
  'docs/from-openai-agents.md': { yaml: 1, ts: 1 },
  'docs/guardrails.md': { ts: 1, yaml: 1 },
  'docs/hand-offs.md': { yaml: 1 },
  'docs/images.md': { sh: 1, json: 1 },
  'docs/long-chats.md': { yaml: 1, json: 1 },
  'docs/mcp-server.md': { sh: 1, ts: 1, json: 3 },
  'docs/mcp.md': { yaml: 1, ts: 1, sh: 1, json: 1 },
  'docs/members.md': { sh: 3, json: 4 },
  'docs/models.md': { sh: 1, ts: 1 },
  'docs/monitoring.md': { sh: 1, yaml: 1 },
  'docs/nodes.md': { sh: 2, json: 1 },
  'docs/openai.md': { sh: 1, ts: 1 },
  'docs/openai-chat.md': { sh: 1, ts: 1, json: 1, yaml: 1 },
  'docs/postgres.md': { sh: 1, sql: 1 },
  'docs/providers.md': { yaml: 2, sh: 1, ts: 1 },
  'docs/questions.md': { yaml: 1, ts: 2, sh: 2, json: 2 },
  'docs/roles.md': { sh: 1 },
  'docs/s3.md': { sh: 1, json: 3 },
  'docs/sandbox-files.md': { sh: 2 },
  'docs/sandbox.md': { json: 1 },
  'docs/reruns.md': { sh: 2 },
  'docs/schedules.md': { sh: 4 },
  'docs/settings.md': { sh: 1 },
  'docs/sign-in.md': { sh: 1 },
  'docs/state.md': { ts: 2, sh: 1 },
  'docs/stream.md': { sh: 3, nginx: 1 },
  'docs/testing.md': { ts: 1 },
  'docs/text-only.md': { sh: 1, nginx: 1 },
  'docs/tool-images.md': { ts: 1, json: 1, sh: 1 },
  'docs/tools.md': { ts: 4 },
  'docs/upgrade.md': { sql: 1 },
  'docs/upload-address.md': { sh: 1 },
  'docs/usage.md': { sh: 6, json: 5 },
  'docs/webhooks.md': { sh: 1, json: 1 },
  'packages/client/README.md': { ts: 2 },
  'packages/client-python/README.md': { sh: 1, python: 1 },
  'packages/guarded-fetch/README.md': { ts: 1 },
  'packages/mcp-sessions/README.md': { ts: 1 },
  'packages/models/README.md': { ts: 1 },
  'packages/sandbox/README.md': { ts: 1 },
  'docs/webhook-receivers.md': { ts: 2, python: 1, sh: 1 },
};

/** Pages of packages that have one sample, and what it prints. */
export const PACKAGE_PAGES = [
  'packages/guarded-fetch/README.md',
  'packages/mcp-sessions/README.md',
  'packages/models/README.md',
  'packages/sandbox/README.md',
];

/** The first block without a language: what the sample of a page prints. */
export const shownOutput = (page: string): string =>
  getFences(page).find(({ language }) => language === '')?.sample ?? '';

/** Markdown pages of the project that people read, by their path from the root. */
export const pages = (): string[] =>
  ['*.md', 'docs/**/*.md', 'packages/*/*.md', 'bench/*.md', 'requirements/*.md'].flatMap((pattern) =>
    globSync(pattern, { cwd: root }),
  );

export const readPage = (page: string): string => readFileSync(join(root, page), 'utf8');

export function getFences(page: string): { readonly language: string; readonly sample: string }[] {
  return [...readPage(page).matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language = '', sample = '']) => ({
    language,
    sample,
  }));
}

/** A page's samples in one language, in order. */
export function listSamples(page: string, language: SampleLanguage): string[] {
  const samples = getFences(page).flatMap((fence) => (fence.language === language ? [fence.sample] : []));
  assert.equal(samples.length, SAMPLES[page]?.[language], `${page}: samples in ${language}, as SAMPLES counts them`);
  return samples;
}

/** Runs a sample as pasted, except that a refusal fails. Resolves to its output. */
export async function paste(t: TestContext, sample: string, env: Readonly<Record<string, string>>): Promise<string> {
  const folder = temporaryFolder();
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const script = `set -e\ncurl() { command curl -sS --fail-with-body "$@"; echo; }\n${sample}`;
  const { stdout } = await run('sh', ['-c', script], {
    cwd: /\bbin\/runwire\b/.test(sample) ? root : folder,
    env: { PATH: process.env.PATH, HOME: existsSync(folder) ? folder : root, ...env },
    timeout: 60_000,
  });
  return stdout;
}
