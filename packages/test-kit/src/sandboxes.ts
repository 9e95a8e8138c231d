import {
  type BubblewrapOptions,
  BubblewrapSandbox,
  type JustBashOptions,
  JustBashSandbox,
  type Sandbox,
} from '@runwire/sandbox';
import { answer, encodeProgram } from '@runwire/sandbox/src/bubblewrap/bpf.ts';
import { ALLOW } from '@runwire/sandbox/src/bubblewrap/seccomp-filter.ts';
import { chooseSandbox } from '@runwire/server/src/compose/choose-sandbox.ts';

/** `auto` is what a server chooses. */
export type SandboxName = 'bubblewrap' | 'bubblewrap-without-proc' | 'just-bash' | 'auto';

/** Fault of `escape` and `sandbox-everyday` → what bubblewrap is without one of its parts. */
const FAULTS: Readonly<Record<string, Partial<BubblewrapOptions>>> = {
  'no-seccomp': { filter: encodeProgram([answer(ALLOW)]) },
  'no-pid-namespace': { changeArguments: (all) => all.filter((one) => !['--unshare-pid', '--as-pid-1'].includes(one)) },
  // The first process leaves all descriptors open.
  'open-descriptors': { changeScript: (script) => script.replace(/^for path in .*$/m, '') },
  // Programs find no folder for their settings and caches.
  'no-home': { changeArguments: (all) => all.map((one, index) => (all[index - 1] === 'HOME' ? '/home/sandbox' : one)) },
};

/** Fault of `sandbox-everyday` → what just-bash is without one of its parts. */
const JUST_BASH_FAULTS: Readonly<Record<string, JustBashOptions>> = {
  'plain-just-bash': { hasOwnCommands: false },
};

export async function openSandbox(name: SandboxName, fault: string | null): Promise<Sandbox> {
  if (name === 'just-bash') return new JustBashSandbox(JUST_BASH_FAULTS[fault ?? '']);
  if (name === 'bubblewrap-without-proc') return new BubblewrapSandbox({ proc: false });
  if (name === 'bubblewrap') return new BubblewrapSandbox({ proc: true, ...(fault === null ? {} : FAULTS[fault]) });
  const { sandbox } = await chooseSandbox({ kind: 'auto', program: null });
  if (sandbox === null) throw new Error('No sandbox can run here.');
  return sandbox;
}
