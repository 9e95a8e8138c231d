import { isAbsolute } from 'node:path';
import { type SandboxConfig, SettingRefused } from './config.ts';
import type { ReadSetting } from './read-network.ts';

const KINDS = ['auto', 'bubblewrap', 'just-bash', 'off'] as const;
const EXEC = 'exec:';
const MAX_SLOTS = 1000;

/** `RUNWIRE_SANDBOX` and `RUNWIRE_SANDBOX_SLOTS`. */
export function readSandbox(read: ReadSetting): SandboxConfig {
  return Object.freeze({ ...readKind(read('RUNWIRE_SANDBOX') ?? 'auto'), slots: readSlots(read) });
}

function readKind(text: string): Pick<SandboxConfig, 'kind' | 'program'> {
  const kind = KINDS.find((known) => known === text);
  if (kind !== undefined) return { kind, program: null };
  const program = text.startsWith(EXEC) ? text.slice(EXEC.length) : '';
  if (isAbsolute(program)) return { kind: 'exec', program };
  throw new SettingRefused(
    `RUNWIRE_SANDBOX is \`${text}\`; set it to ${KINDS.join(', ')}, or exec: and the absolute path of a program.`,
  );
}

function readSlots(read: ReadSetting): number {
  const text = read('RUNWIRE_SANDBOX_SLOTS') ?? '4';
  const slots = Number(text);
  if (/^\d{1,4}$/.test(text) && slots >= 1 && slots <= MAX_SLOTS) return slots;
  throw new SettingRefused(`RUNWIRE_SANDBOX_SLOTS is \`${text}\`; set it to a whole number from 1 to ${MAX_SLOTS}.`);
}
