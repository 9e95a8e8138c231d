#!/usr/bin/env node
import { existsSync, readFileSync } from 'node:fs';
import packageJson from '../package.json' with { type: 'json' };

/** The server uses SQLite and syntax that older versions of Node do not have. */
const NODE_MAJOR = 26;
/** The settings of a project, in the folder in which the command is started. */
const SETTINGS_FILE = 'runwire.env';

async function main(args: readonly string[]): Promise<void> {
  const { node } = process.versions;
  if (Number.parseInt(node, 10) < NODE_MAJOR) {
    process.stderr.write(`Runwire needs Node ${NODE_MAJOR} or newer, and this is Node ${node}; install a newer one.\n`);
    process.exitCode = 1;
    return;
  }
  if (existsSync(SETTINGS_FILE)) {
    const { projectSettings } = await import('./project-settings.ts');
    Object.assign(process.env, projectSettings(readFileSync(SETTINGS_FILE, 'utf8'), process.env));
  }
  // The usual start of a server needs no parser: that saves 40 ms of CPU.
  if (args.length === 1 && args[0] === 'serve') {
    const { serve } = await import('@runwire/server');
    return serve(process.env);
  }
  const { runCommand } = await import('./program.ts');
  await runCommand(args, process.env, packageJson.version);
}

await main(process.argv.slice(2));
