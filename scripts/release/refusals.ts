import { datedSection, unreleasedSection } from './changelog.ts';

/** What a release depends on. */
export interface ReleaseFacts {
  readonly environment: NodeJS.ProcessEnv;
  /** The manifests of all packages, and of the Python client → the version in each. */
  readonly versions: Readonly<Record<string, string>>;
  /** Files that are changed or not committed. */
  readonly changedFiles: readonly string[];
  /** Tags of the commit. */
  readonly tags: readonly string[];
  readonly changelog: string;
}

export const tagName = (version: string) => `v${version}`;

/** Why this version may not be published from here, each with what to do. An empty list if it may. */
export function refusals(
  version: string,
  { environment, versions, changedFiles, tags, changelog }: ReleaseFacts,
): string[] {
  const tag = tagName(version);
  const others = Object.entries(versions).filter(([, found]) => found !== version);
  const found: (string | false)[] = [
    environment.GITHUB_ACTIONS !== 'true' &&
      'This is not CI: only the workflow .github/workflows/release.yml publishes, because npm signs the provenance there. Push the tag; here use `--dry-run`.',
    environment.GITHUB_ACTIONS === 'true' &&
      !environment.ACTIONS_ID_TOKEN_REQUEST_URL &&
      'The job has no identity to sign the provenance with: give it the permission `id-token: write`.',
    others.length > 0 &&
      `The versions differ: ${others.map(([file, one]) => `${file} has ${one}`).join(', ')}, package.json ${version}. Use \`npm run release -- --cut <version>\`.`,
    changedFiles.length > 0 &&
      `The tree has changes that are not committed: ${changedFiles.slice(0, 5).join(', ')}${changedFiles.length > 5 ? ', …' : ''}. Commit them first.`,
    !tags.includes(tag) &&
      `The commit does not have the tag ${tag} (it has ${tags.join(', ') || 'none'}): the tag must match the version. Tag this commit, or cut the version of the tag.`,
    datedSection(changelog, version) === undefined &&
      `CHANGELOG.md has no section \`## ${version} (YYYY-MM-DD)\`. Use \`npm run release -- --cut ${version}\`.`,
    unreleasedSection(changelog) === undefined &&
      'CHANGELOG.md has no section `## Unreleased`. Add it above the version, without text.',
    Boolean(unreleasedSection(changelog)) &&
      'CHANGELOG.md has text below `## Unreleased`: it would be in no version. Move it to this version, or cut the next one.',
  ];
  return found.filter((sentence) => sentence !== false);
}
