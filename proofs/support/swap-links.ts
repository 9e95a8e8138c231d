import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';

/*
 * The second process of `mount-race`: until it is told to stop, it puts folders and files of a mount out of the way, links
 * to others outside in their place, and all back again. Beside a store that makes the same names anew, each of its steps
 * may find something else than it left.
 */

const [files = '', outside = '', ...paths] = process.argv.slice(2);
/** Between two steps, so that the other process meets each state: up to so long. The link stands for longest. */
const PAUSE_MS = 0.4;
const LINK_MS = 1.5;
const MAX_TRIES = 1000;

const still = new Int32Array(new SharedArrayBuffer(4));
const pause = (atMostMs = PAUSE_MS) => Atomics.wait(still, 0, 0, Math.random() * atMostMs);

let swaps = 0;
let isStopped = false;
process.once('message', () => {
  isStopped = true;
});

function tried(step: () => void): boolean {
  try {
    step();
    return true;
  } catch {
    return false;
  }
}

/** Out of the way is within the mount: what is moved out of it is no longer the mount's. */
function swap(path: string): void {
  const [place, away] = [join(files, path), join(files, `${path.replaceAll('/', '.')}.away`)];
  if (!tried(() => renameSync(place, away))) return;
  pause();
  if (tried(() => symlinkSync(join(outside, path), place))) swaps += 1;
  pause(LINK_MS);
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    tried(() => rmSync(place, { recursive: true, force: true }));
    tried(() => mkdirSync(join(place, '..'), { recursive: true }));
    if (tried(() => renameSync(away, place))) return;
  }
}

process.send?.('ready');
while (!isStopped) {
  for (const path of paths) {
    swap(path);
    pause();
  }
  await turn();
}
process.send?.(swaps);
process.disconnect?.();
