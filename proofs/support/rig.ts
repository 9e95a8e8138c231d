import { fileURLToPath } from 'node:url';
import { type RigOptions, Rig as TestRig } from '@runwire/test-kit';

/** `npm run check:full` sets `TEST_BUILD`: a start from the build costs 0.3 s of CPU instead of 1.2 s. */
const entry = fileURLToPath(
  new URL(
    process.env.TEST_BUILD === undefined ? './server-process.ts' : '../../packages/test-kit/dist/proof-server.js',
    import.meta.url,
  ),
);

/** The stage of a proof: the rig of the test kit, whose servers can have a planted fault. */
export type Rig = TestRig;
export const Rig = {
  open: (options: RigOptions = {}): Promise<Rig> => TestRig.open({ entry, ...options }),
  start: (options: RigOptions = {}): Promise<Rig> => TestRig.start({ entry, ...options }),
};
