import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Phase } from './phases.ts';

/*
 * Agent frameworks of the same language, as people use them: an agent, the scripted provider as its model, and the
 * storage that the framework brings. Each is installed in its own folder, so our packages do not depend on it.
 */

/** A full peer stores the chat in a database before an answer ends. The others keep it in memory or not at all. */
const PEERS = [
  { name: 'voltagent', isFull: true },
  { name: 'mastra', isFull: true },
  { name: 'langgraph', isFull: false },
  { name: 'openai-agents', isFull: false },
] as const;

export const PEER_NAMES: readonly string[] = PEERS.map(({ name }) => name);
export const isPeer = (name: string) => PEER_NAMES.includes(name);
export const isFullPeer = (name: string) => PEERS.some((peer) => peer.name === name && peer.isFull);

/** The scenarios in which peers are measured. They have no tool, and 500 concurrent streams would take minutes. */
export const isForPeers = ({ name, calls, kind }: Phase) =>
  (name === 'warm-up' && calls === undefined && kind === 'answers') || ['short', 'single', 'long'].includes(name);

const peerFolder = (name: string) => join(import.meta.dirname, 'peers', name);

/** Installs a peer's packages from its lock file, without install scripts, unless the folder has them. */
export function installPeer(name: string): void {
  const folder = peerFolder(name);
  if (existsSync(join(folder, 'node_modules'))) return;
  process.stderr.write(`installing ${name}\n`);
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

export const peerScript = (name: string) => join(peerFolder(name), 'server.ts');
