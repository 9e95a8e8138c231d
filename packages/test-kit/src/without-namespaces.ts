import {
  answer,
  BPF_JUMP_EQUAL,
  BPF_JUMP_SET,
  encodeProgram,
  load,
  unless,
  when,
} from '@runwire/sandbox/src/bubblewrap/bpf.ts';
import { ABSENT, ALLOW, AUDIT_ARCHITECTURES, REFUSE } from '@runwire/sandbox/src/bubblewrap/seccomp-filter.ts';

const PERL = '/usr/bin/perl';
const NAMESPACE_FLAGS = 0x7e020000;
const CLONE3 = 435;
const [CALL, ARCHITECTURE, FIRST_ARGUMENT] = [0, 4, 16];

/** PR_SET_NO_NEW_PRIVS, then PR_SET_SECCOMP with a program, then the command. */
const script = (prctl: number) => `
  $filter = pack "H*", shift;
  $program = pack "S x6 P", length($filter) / 8, $filter;
  syscall(${prctl}, 38, 1, 0, 0, 0) == 0 or die "no_new_privs: $!";
  syscall(${prctl}, 22, 2, $program) == 0 or die "seccomp: $!";
  exec @ARGV or die "exec: $!"`;

/**
 * Returns a command that runs the given one without the right to make namespaces, as the default filters of container
 * engines do.
 */
export function withoutNamespaces(command: readonly string[]): [program: string, ...args: string[]] {
  const isArm = process.arch === 'arm64';
  const [prctl, clone, unshare, setns] = isArm ? [167, 220, 97, 268] : [157, 56, 272, 308];
  const filter = encodeProgram([
    load(ARCHITECTURE),
    ...unless(BPF_JUMP_EQUAL, AUDIT_ARCHITECTURES[isArm ? 'arm64' : 'x64'], [answer(ALLOW)]),
    load(CALL),
    ...[unshare, setns].flatMap((number) => when(BPF_JUMP_EQUAL, number, [answer(REFUSE)])),
    // Its flags are out of reach of a filter. The C library uses clone instead.
    ...when(BPF_JUMP_EQUAL, CLONE3, [answer(ABSENT)]),
    ...when(BPF_JUMP_EQUAL, clone, [
      load(FIRST_ARGUMENT),
      ...when(BPF_JUMP_SET, NAMESPACE_FLAGS, [answer(REFUSE)]),
      answer(ALLOW),
    ]),
    answer(ALLOW),
  ]);
  return [PERL, '-e', script(prctl), filter.toString('hex'), ...command];
}
