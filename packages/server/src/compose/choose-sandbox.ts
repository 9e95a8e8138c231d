import {
  BubblewrapSandbox,
  ExecSandbox,
  JustBashSandbox,
  type Sandbox,
  type SandboxInfo,
  trySandbox,
} from '@runwire/sandbox';
import type { SandboxConfig } from '../config/config.ts';
import { StartRefused } from '../domain/start-refused.ts';

/** This node's sandbox. It is null if there is none, because the setting is `off` or because nothing works. */
export interface SandboxChoice {
  readonly sandbox: Sandbox | null;
  readonly info: SandboxInfo;
  /** Why a better sandbox cannot run here; null if the setting names this one, or if it is the best. */
  readonly reason: string | null;
}

type Trial = { readonly sandbox: Sandbox } | { readonly reason: string };

async function firstThatWorks(candidates: readonly (() => Sandbox)[]): Promise<Trial> {
  const reasons: string[] = [];
  for (const open of candidates) {
    const sandbox = open();
    const reason = await trySandbox(sandbox);
    if (reason === null) return { sandbox };
    reasons.push(reason);
  }
  return { reason: reasons[0] ?? '' };
}

const bubblewrap = () =>
  process.platform !== 'linux' || !['x64', 'arm64'].includes(process.arch)
    ? Promise.resolve({ reason: 'it needs Linux on x64 or arm64' })
    : // Containers can mask parts of `/proc`, and then the kernel refuses to mount another.
      firstThatWorks([() => new BubblewrapSandbox({ proc: true }), () => new BubblewrapSandbox({ proc: false })]);

const justBash = () => firstThatWorks([() => new JustBashSandbox()]);

/** Chooses the sandbox that the settings name, and runs a command in it. Refuses the start if that fails. */
export async function chooseSandbox({ kind, program }: Omit<SandboxConfig, 'slots'>): Promise<SandboxChoice> {
  const chosen = (sandbox: Sandbox, reason: string | null = null) => ({
    sandbox,
    info: sandbox.info,
    reason,
  });
  const none = (reason: string | null) => ({ sandbox: null, info: { kind: 'off' as const }, reason });
  if (kind === 'off') return none(null);
  if (kind !== 'auto') {
    const trial = await (kind === 'bubblewrap'
      ? bubblewrap()
      : kind === 'just-bash'
        ? justBash()
        : firstThatWorks([() => new ExecSandbox(program ?? '')]));
    if ('sandbox' in trial) return chosen(trial.sandbox);
    const name = program === null ? kind : `${kind}:${program}`;
    throw new StartRefused(
      `RUNWIRE_SANDBOX is \`${name}\`, which cannot run here (${trial.reason}); fix this, or set it to auto or off.`,
    );
  }
  const first = await bubblewrap();
  if ('sandbox' in first) return chosen(first.sandbox);
  const second = await justBash();
  if ('sandbox' in second) return chosen(second.sandbox, `bubblewrap cannot run here (${first.reason})`);
  return none(`neither bubblewrap (${first.reason}) nor just-bash (${second.reason}) can run here`);
}
