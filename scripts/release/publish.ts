import { spawnSync } from 'node:child_process';
import type { PackedFile } from './pack.ts';
import { tagName } from './refusals.ts';
import { run } from './run.ts';

/** The integrity that the registry has for this version, or null if it has no such version. */
function publishedIntegrity({ name, version }: PackedFile): string | null {
  const { status, stdout, stderr } = spawnSync('npm', ['view', `${name}@${version}`, 'dist.integrity'], {
    encoding: 'utf8',
  });
  if (status === 0) return stdout.trim() || null;
  if (/\bE404\b/.test(stderr)) return null;
  throw new Error(`npm view ${name} failed: ${stderr.trim()}`);
}

/** Publishes the tarballs in their order. A release that failed in between can run again: it skips what is published. */
export function publishPackages(packed: readonly PackedFile[]): void {
  for (const file of packed) {
    const found = publishedIntegrity(file);
    if (found === file.integrity) {
      process.stdout.write(`${file.name} ${file.version} is already published\n`);
      continue;
    }
    if (found !== null)
      throw new Error(`${file.name} ${file.version} is already published with other content; cut a new version.`);
    run('npm', ['publish', file.path, '--provenance', '--access', 'public', '--ignore-scripts']);
  }
}

/** Makes the release on GitHub with these notes and files, or adds the files to it if it exists. */
export function publishOnGitHub(version: string, notes: string, files: readonly string[]): void {
  const tag = tagName(version);
  const exists = spawnSync('gh', ['release', 'view', tag], { stdio: 'ignore' }).status === 0;
  if (exists) run('gh', ['release', 'upload', tag, '--clobber', ...files]);
  else run('gh', ['release', 'create', tag, '--verify-tag', '--title', tag, '--notes', notes, ...files]);
}
