export type Architecture = 'x64' | 'arm64';

/** Numbers of system calls. One number if both architectures share it; null if the architecture lacks the call. */
type Numbers = number | readonly [x64: number, arm64: number | null];

/** Refused with EPERM: they reach other processes, the kernel, or more namespaces. */
export const REFUSED_CALLS = {
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  kcmp: [312, 272],
  pidfd_getfd: 438,
  process_madvise: 440,
  process_mrelease: 448,
  unshare: [272, 97],
  setns: [308, 268],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: 428,
  move_mount: 429,
  fsopen: 430,
  fsconfig: 431,
  fsmount: 432,
  fspick: 433,
  mount_setattr: 442,
  statmount: 457,
  listmount: 458,
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  io_uring_setup: 425,
  io_uring_enter: 426,
  io_uring_register: 427,
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
  fanotify_init: [300, 262],
  fanotify_mark: [301, 263],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  create_module: [174, null],
  init_module: [175, 105],
  delete_module: [176, 106],
  get_kernel_syms: [177, null],
  query_module: [178, null],
  finit_module: [313, 273],
  reboot: [169, 142],
  swapon: [167, 224],
  swapoff: [168, 225],
  acct: [163, 89],
  quotactl: [179, 60],
  quotactl_fd: 443,
  nfsservctl: [180, 42],
  syslog: [103, 116],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  adjtimex: [159, 171],
  clock_adjtime: [305, 266],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  vhangup: [153, 58],
  lookup_dcookie: [212, 18],
  mbind: [237, 235],
  set_mempolicy: [238, 237],
  migrate_pages: [256, 238],
  move_pages: [279, 239],
  set_mempolicy_home_node: 450,
  uselib: [134, null],
  ustat: [136, null],
  sysfs: [139, null],
  modify_ldt: [154, null],
  _sysctl: [156, null],
  iopl: [172, null],
  ioperm: [173, null],
} as const satisfies Readonly<Record<string, Numbers>>;

/**
 * Answered with ENOSYS, so that a program takes its other way. `clone3` has its flags in memory, out of reach of a
 * filter. The others allocate memory that no process shows as its own, so that nothing could limit it.
 */
export const ABSENT_CALLS = {
  clone3: 435,
  memfd_create: [319, 279],
  memfd_secret: 447,
  shmget: [29, 194],
  msgget: [68, 186],
  semget: [64, 190],
  vmsplice: [278, 75],
} as const satisfies Readonly<Record<string, Numbers>>;

/** Calls whose arguments decide. */
export const CHECKED_CALLS = {
  clone: [56, 220],
  socket: [41, 198],
  socketpair: [53, 199],
  ioctl: [16, 29],
  setsockopt: [54, 208],
} as const satisfies Readonly<Record<string, Numbers>>;

/** The newest call that this table knows (`mseal`). Newer calls are answered with ENOSYS. */
export const NEWEST_CALL = 462;

export function callNumber(numbers: Numbers, architecture: Architecture): number | null {
  return typeof numbers === 'number' ? numbers : numbers[architecture === 'x64' ? 0 : 1];
}
