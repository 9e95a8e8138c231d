import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { isNewest, readVersionTags } from './newest.ts';
import { run } from './run.ts';

/*
 * Builds and pushes the image of one platform on a machine of that platform (`npm run image -- --platform amd64`), then
 * joins the images of both platforms under one name (`npm run image -- --join`). `IMAGE` is its name without a tag.
 * With `--dry-run` it prints the command and runs nothing.
 */

const PLATFORMS = ['amd64', 'arm64'];

function fail(sentence: string): never {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
}

const { values } = parseArgs({
  options: {
    platform: { type: 'string' },
    join: { type: 'boolean', default: false },
    'dry-run': { type: 'boolean', default: false },
  },
});
const { IMAGE } = process.env;
if (!IMAGE) fail('Set IMAGE to the name of the image without a tag, such as registry.example.com/runwire.');
// A registry refuses capital letters, and a repository's owner may have some.
const image = IMAGE.toLowerCase();
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const platformTag = (platform: string) => `${image}:${version}-${platform}`;

function buildArguments(platform: string): string[] {
  if (!PLATFORMS.includes(platform)) fail(`There is no platform ${platform}; use one of: ${PLATFORMS.join(', ')}.`);
  const attestations = ['--provenance', 'mode=max', '--sbom', 'true'];
  return [
    'buildx',
    'build',
    '--platform',
    `linux/${platform}`,
    ...attestations,
    '--push',
    '--tag',
    platformTag(platform),
    '.',
  ];
}

function joinArguments(): string[] {
  const latest = isNewest(version, readVersionTags()) ? ['latest'] : [];
  const names = [version, ...latest].flatMap((tag) => ['--tag', `${image}:${tag}`]);
  return ['buildx', 'imagetools', 'create', ...names, ...PLATFORMS.map(platformTag)];
}

if (values.join === (values.platform !== undefined))
  fail('Give either `--platform amd64`, `--platform arm64` or `--join`.');
const args = values.platform === undefined ? joinArguments() : buildArguments(values.platform);
process.stdout.write(`docker ${args.join(' ')}\n`);
if (!values['dry-run']) run('docker', args);
