import { spawnSync } from 'node:child_process';

/** Runs a program to its end, and returns its output. Throws if it fails. */
export function capture(program: string, args: readonly string[], cwd = '.'): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd, encoding: 'utf8', maxBuffer: 2 ** 28 });
  if (status === 0) return stdout;
  throw new Error(`${program} ${args[0]} failed: ${error?.message ?? `${stderr}${stdout}`.trim()}`);
}

/** Runs a program to its end. Its output is ours. Throws if it fails. */
export function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): void {
  const { status, error } = spawnSync(program, args, { stdio: 'inherit', env: { ...process.env, ...env } });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed: ${error?.message ?? 'see above'}.`);
}
