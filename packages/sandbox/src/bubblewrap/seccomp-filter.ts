import {
  answer,
  BPF_JUMP_EQUAL,
  BPF_JUMP_GREATER,
  BPF_JUMP_SET,
  encodeProgram,
  type Instruction,
  load,
  unless,
  when,
} from './bpf.ts';
import {
  ABSENT_CALLS,
  type Architecture,
  CHECKED_CALLS,
  callNumber,
  NEWEST_CALL,
  REFUSED_CALLS,
} from './system-calls.ts';

/** Places in a seccomp filter's data. Both architectures are little-endian: the low word of an argument is first. */
const CALL = 0;
const ARCHITECTURE = 4;
const argument = (index: number) => 16 + index * 8;

export const ALLOW = 0x7fff0000;
export const KILL_PROCESS = 0x80000000;
const ERRNO = 0x00050000;
const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;
export const REFUSE = ERRNO | EPERM;
export const ABSENT = ERRNO | ENOSYS;
/** Returns 0 as if the call had succeeded, without making it. */
export const IGNORE = ERRNO;
export const NO_SUCH_FAMILY = ERRNO | EAFNOSUPPORT;

export const AUDIT_ARCHITECTURES: Readonly<Record<Architecture, number>> = { x64: 0xc000003e, arm64: 0xc00000b7 };

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET. */
const NAMESPACE_FLAGS = 0x7e020000;
/** AF_UNIX, AF_INET and AF_INET6: the network namespace holds them. It does not hold AF_VSOCK. */
const SOCKET_FAMILIES = [1, 2, 10];
/** TIOCSTI and TIOCLINUX write into the server's terminal. */
const TERMINAL_INPUT = [0x5412, 0x541c];
const SOL_SOCKET = 1;
/** SO_SNDBUF, SO_RCVBUF and their variants for root. Larger buffers of sockets are memory that no process shows. */
const BUFFER_SIZES = [7, 8, 32, 33];

const ONLY_KNOWN_FAMILIES: readonly Instruction[] = [
  ...SOCKET_FAMILIES.flatMap((family) => when(BPF_JUMP_EQUAL, family, [answer(ALLOW)])),
  answer(NO_SUCH_FAMILY),
];

/** Returns the instructions that decide one call by an argument, which is loaded first. */
function checked(number: number | null, index: number, decide: readonly Instruction[]): Instruction[] {
  return number === null ? [] : when(BPF_JUMP_EQUAL, number, [load(argument(index)), ...decide]);
}

export function filterProgram(architecture: Architecture): Instruction[] {
  const getNumbers = (calls: Readonly<Record<string, Parameters<typeof callNumber>[0]>>) =>
    Object.values(calls)
      .map((numbers) => callNumber(numbers, architecture))
      .filter((number) => number !== null);
  const number = (name: keyof typeof CHECKED_CALLS) => callNumber(CHECKED_CALLS[name], architecture);
  return [
    load(ARCHITECTURE),
    // The calls of another architecture, such as 32-bit calls, have other numbers.
    ...unless(BPF_JUMP_EQUAL, AUDIT_ARCHITECTURES[architecture], [answer(KILL_PROCESS)]),
    load(CALL),
    // Also the calls of x32, which have a high bit.
    ...when(BPF_JUMP_GREATER, NEWEST_CALL, [answer(ABSENT)]),
    ...checked(number('clone'), 0, [...when(BPF_JUMP_SET, NAMESPACE_FLAGS, [answer(REFUSE)]), answer(ALLOW)]),
    ...checked(number('socket'), 0, ONLY_KNOWN_FAMILIES),
    ...checked(number('socketpair'), 0, ONLY_KNOWN_FAMILIES),
    ...checked(number('ioctl'), 1, [
      ...TERMINAL_INPUT.flatMap((request) => when(BPF_JUMP_EQUAL, request, [answer(REFUSE)])),
      answer(ALLOW),
    ]),
    ...checked(number('setsockopt'), 1, [
      ...when(BPF_JUMP_EQUAL, SOL_SOCKET, [
        load(argument(2)),
        ...BUFFER_SIZES.flatMap((option) => when(BPF_JUMP_EQUAL, option, [answer(IGNORE)])),
        answer(ALLOW),
      ]),
      answer(ALLOW),
    ]),
    ...getNumbers(REFUSED_CALLS).flatMap((refused) => when(BPF_JUMP_EQUAL, refused, [answer(REFUSE)])),
    ...getNumbers(ABSENT_CALLS).flatMap((absent) => when(BPF_JUMP_EQUAL, absent, [answer(ABSENT)])),
    answer(ALLOW),
  ];
}

/** Returns the filter as `bwrap --seccomp` reads it. */
export function seccompFilter(architecture: Architecture): Buffer {
  return encodeProgram(filterProgram(architecture));
}
