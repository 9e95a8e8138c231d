import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BPF_JUMP_EQUAL, BPF_JUMP_GREATER, BPF_JUMP_SET, BPF_LOAD_WORD, BPF_RETURN } from './bpf.ts';
import {
  ABSENT,
  ALLOW,
  AUDIT_ARCHITECTURES,
  IGNORE,
  KILL_PROCESS,
  NO_SUCH_FAMILY,
  REFUSE,
  seccompFilter,
} from './seccomp-filter.ts';
import { ABSENT_CALLS, type Architecture, callNumber, REFUSED_CALLS } from './system-calls.ts';

interface Call {
  readonly number: number;
  readonly args?: readonly bigint[];
  readonly architecture?: number;
}

/** Runs the bytes of a filter as the kernel does: over its 64 bytes of data about the call. */
function decide(filter: Buffer, architecture: Architecture, call: Call): number {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(call.number, 0);
  data.writeUInt32LE(call.architecture ?? AUDIT_ARCHITECTURES[architecture], 4);
  for (const [index, value] of (call.args ?? []).entries()) data.writeBigUInt64LE(value, 16 + index * 8);
  assert.equal(filter.length % 8, 0);
  assert.ok(filter.length / 8 <= 4096, 'the kernel accepts no more instructions');
  let word = 0;
  for (let at = 0; at < filter.length; at += 8) {
    const [code, jt, jf, k] = [filter.readUInt16LE(at), filter[at + 2], filter[at + 3], filter.readUInt32LE(at + 4)];
    const jump = (isTrue: boolean) => {
      at += 8 * Number(isTrue ? jt : jf);
    };
    if (code === BPF_RETURN) return k;
    if (code === BPF_LOAD_WORD) word = data.readUInt32LE(k);
    else if (code === BPF_JUMP_EQUAL) jump(word === k);
    else if (code === BPF_JUMP_GREATER) jump(word > k);
    else if (code === BPF_JUMP_SET) jump((word & k) !== 0);
    else assert.fail(`unknown instruction ${code}`);
  }
  return assert.fail('the program has no end');
}

/** From the tables of the kernel (`syscall_64.tbl` and `asm-generic/unistd.h`): calls that programs need. */
const NEEDED: Readonly<Record<Architecture, readonly number[]>> = {
  // read, write, open, close, stat, mmap, ioctl without a request, pipe, fork, vfork, execve, exit, kill, chmod, openat,
  // prlimit64, seccomp, getrandom, execveat, rseq, faccessat2.
  x64: [0, 1, 2, 3, 4, 9, 22, 57, 58, 59, 60, 62, 90, 257, 302, 317, 318, 322, 334, 439],
  // openat, close, read, write, fstat, exit, futex, kill, execve, mmap, mprotect, wait4, prlimit64, seccomp, getrandom.
  arm64: [56, 57, 63, 64, 80, 93, 98, 129, 221, 222, 226, 260, 261, 277, 278, 281, 293, 439],
};

/** The same tables, for calls with one number on each architecture. Written again, so that a slip is noticed. */
const DANGEROUS: Readonly<Record<string, readonly [number, number]>> = {
  mount: [165, 40],
  umount2: [166, 39],
  unshare: [272, 97],
  setns: [308, 268],
  ptrace: [101, 117],
  keyctl: [250, 219],
  add_key: [248, 217],
  request_key: [249, 218],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  open_by_handle_at: [304, 265],
  kexec_load: [246, 104],
  init_module: [175, 105],
  finit_module: [313, 273],
  io_uring_setup: [425, 425],
  fsopen: [430, 430],
  process_vm_readv: [310, 270],
};

for (const architecture of ['x64', 'arm64'] as const) {
  const filter = seccompFilter(architecture);
  const index = architecture === 'x64' ? 0 : 1;
  const by = (call: Call) => decide(filter, architecture, call);
  const [clone, socket, socketpair, ioctl, setsockopt] =
    architecture === 'x64' ? [56, 41, 53, 16, 54] : [220, 198, 199, 29, 208];

  test(`${architecture}: the calls of usual programs are allowed`, () => {
    for (const number of NEEDED[architecture]) assert.equal(by({ number }), ALLOW, String(number));
  });

  test(`${architecture}: dangerous calls are refused`, () => {
    for (const [name, numbers] of Object.entries(DANGEROUS))
      assert.equal(by({ number: numbers[index] ?? 0 }), REFUSE, name);
    for (const [name, numbers] of Object.entries(REFUSED_CALLS)) {
      const number = callNumber(numbers, architecture);
      if (number !== null) assert.equal(by({ number }), REFUSE, name);
    }
  });

  test(`${architecture}: clone3 and unknown calls do not exist`, () => {
    for (const number of [435, 447, 463, 1000, 0x40000000, 0x40000000 + 101, 0xffffffff]) {
      assert.equal(by({ number }), ABSENT, String(number));
    }
    for (const [name, numbers] of Object.entries(ABSENT_CALLS)) {
      assert.equal(by({ number: callNumber(numbers, architecture) ?? 0 }), ABSENT, name);
    }
  });

  test(`${architecture}: clone makes processes and threads, but no namespaces`, () => {
    const flags = (value: bigint) => by({ number: clone, args: [value] });
    assert.equal(flags(17n), ALLOW, 'SIGCHLD, as in fork');
    assert.equal(flags(0x3d0f00n), ALLOW, 'a thread');
    assert.equal(flags(0x4111n), ALLOW, 'vfork');
    for (const bit of [17n, 25n, 26n, 27n, 28n, 29n, 30n]) {
      assert.equal(flags(17n | (1n << bit)), REFUSE, String(bit));
      assert.equal(flags((5n << 32n) | (1n << bit)), REFUSE, 'the high word has no meaning');
    }
  });

  test(`${architecture}: sockets are local or of the empty network`, () => {
    for (const number of [socket, socketpair]) {
      for (let family = 0; family < 64; family += 1) {
        const expected = [1, 2, 10].includes(family) ? ALLOW : NO_SUCH_FAMILY;
        assert.equal(by({ number, args: [BigInt(family)] }), expected, String(family));
      }
      assert.equal(by({ number, args: [(1n << 32n) | 40n] }), NO_SUCH_FAMILY, 'the kernel reads the low word');
    }
  });

  test(`${architecture}: nothing is typed into a terminal`, () => {
    assert.equal(by({ number: ioctl, args: [0n, 0x5413n] }), ALLOW);
    for (const request of [0x5412n, 0x541cn, (7n << 32n) | 0x5412n]) {
      assert.equal(by({ number: ioctl, args: [0n, request] }), REFUSE);
    }
  });

  test(`${architecture}: the buffers of sockets stay as they are`, () => {
    const set = (level: bigint, option: bigint) => by({ number: setsockopt, args: [3n, level, option] });
    for (const option of [7n, 8n, 32n, 33n]) {
      assert.equal(set(1n, option), IGNORE);
      assert.equal(set(6n, option), ALLOW, 'an option of TCP');
      assert.equal(set((1n << 32n) | 1n, (1n << 32n) | option), IGNORE, 'the kernel reads the low words');
    }
    assert.equal(set(1n, 2n), ALLOW, 'SO_REUSEADDR');
  });

  test(`${architecture}: calls of another architecture end the process`, () => {
    const others = [0x40000003, 0x40000028, ...Object.values(AUDIT_ARCHITECTURES)].filter(
      (other) => other !== AUDIT_ARCHITECTURES[architecture],
    );
    for (const other of others) assert.equal(by({ number: 0, architecture: other }), KILL_PROCESS);
  });
}
