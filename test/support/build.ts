import { spawnSync } from 'node:child_process';
import { isBuildCurrent } from '../../scripts/build/stamp.ts';
import { root } from './cli-process.ts';

/** Builds unless the build is current. `--for-tests` leaves out the declarations, which take most of the time. */
export function ensureBuild(): void {
  if (isBuildCurrent(root)) return;
  const { status, stderr } = spawnSync(process.execPath, ['-C', 'runwire', 'scripts/build/main.ts', '--for-tests'], {
    cwd: root,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`The build failed: ${stderr}`);
}
