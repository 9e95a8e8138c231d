import { capture } from './run.ts';

/** The names of all tags of versions. Throws if the clone may lack some. */
export function readVersionTags(): string[] {
  if (capture('git', ['rev-parse', '--is-shallow-repository']).trim() === 'true')
    throw new Error(
      'This clone is shallow, so it lacks the tags of other versions. Use `fetch-depth: 0` for the checkout.',
    );
  return capture('git', ['tag', '--list', 'v*'])
    .split('\n')
    .filter((tag) => /^v\d+\.\d+\.\d+$/.test(tag));
}

/** False for a fix of an older version: `latest` then stays with the newer one. */
export const isNewest = (version: string, tags: readonly string[]): boolean =>
  tags.every((tag) => tag.slice(1).localeCompare(version, 'en', { numeric: true }) <= 0);
