import { appendFileSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { datedSection } from './changelog.ts';
import { readList } from './list.ts';
import { readVersionTags } from './newest.ts';
import { publishOnGitHub, publishPackages } from './publish.ts';
import { type CommitFacts, commitRefusals, jobRefusals } from './refusals.ts';
import { capture } from './run.ts';
import { cutVersion, readVersions } from './versions.ts';

/*
 * Releases a version (docs/releasing.md). `--prepare` builds and packs everything into `.work/release`. `--publish` publishes
 * these files, and needs no installed package: the job that may publish runs no code of others. `--dry-run` prepares and
 * proves, and publishes nothing. `--cut <version>` only writes the next version to the manifests and the changelog.
 */

const OUT = '.work/release';
const USAGE = 'Give one of: --cut <version>, --dry-run, --prepare, --publish.';

const lines = (text: string) => text.split('\n').filter((line) => line !== '');
const print = (text: string) => process.stdout.write(`${text}\n`);

function readFacts(): CommitFacts {
  return {
    version: JSON.parse(readFileSync('package.json', 'utf8')).version,
    versions: readVersions('.'),
    changedFiles: lines(capture('git', ['status', '--porcelain'])).map((line) => line.slice(3)),
    tags: lines(capture('git', ['tag', '--points-at', 'HEAD'])),
    changelog: readFileSync('CHANGELOG.md', 'utf8'),
  };
}

function refuse(sentences: readonly string[]): void {
  if (sentences.length > 0) throw new Error(`Not released:\n${sentences.map((one) => `- ${one}`).join('\n')}`);
}

function cut(version: string): void {
  cutVersion('.', version, new Date().toISOString().slice(0, 10));
  print(`Version ${version} is written. Run \`npm test\`, commit, and push the tag v${version} (docs/releasing.md).`);
}

async function dryRun(): Promise<void> {
  const { prepare, prove } = await import('./prepare.ts');
  const refused = [...jobRefusals(process.env), ...commitRefusals(readFacts())];
  prepare(OUT);
  prove(OUT);
  for (const sentence of refused) print(`A release from here would be refused: ${sentence}`);
  print('Dry run: nothing was published.');
}

/** GitHub passes the integrity of the list to the job that publishes. */
async function prepareRelease(): Promise<void> {
  refuse(commitRefusals(readFacts()));
  const { prepare } = await import('./prepare.ts');
  const integrity = prepare(OUT);
  print(`\nIntegrity of the list: ${integrity}`);
  if (process.env.GITHUB_OUTPUT) appendFileSync(process.env.GITHUB_OUTPUT, `integrity=${integrity}\n`);
}

function publish(): void {
  const facts = readFacts();
  refuse([...jobRefusals(process.env), ...commitRefusals(facts)]);
  const { packages, python, papers } = readList(OUT, process.env.RELEASE_INTEGRITY);
  publishPackages(packages, readVersionTags());
  const files = [...packages, ...python, ...papers].map(({ path }) => path);
  publishOnGitHub(facts.version, datedSection(facts.changelog, facts.version) ?? '', files);
}

try {
  const flag = { type: 'boolean' } as const;
  const { values } = parseArgs({
    options: { cut: { type: 'string' }, 'dry-run': flag, prepare: flag, publish: flag },
  });
  if (Object.keys(values).length !== 1) throw new Error(USAGE);
  if (values.cut !== undefined) cut(values.cut);
  else if (values.publish) publish();
  else if (values.prepare) await prepareRelease();
  else await dryRun();
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
