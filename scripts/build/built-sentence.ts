import type { PublishedPackage } from './packages.ts';

/** What a build has made, and what to do with it. */
export function builtSentence(packages: readonly Pick<PublishedPackage, 'folder'>[], tookMs: number): string {
  const folders = packages.map(({ folder }) => `packages/${folder}/dist`);
  const took = (tookMs / 1000).toFixed(1);
  return `Built in ${took} s: ${folders.join(', ')}\n\`npm start\` uses them until a source changes.\n`;
}
