import { type Attempt, call, FORM_VARIABLE, perl, REACHED } from './escape-attempt.ts';

/* Attempts to use more than the limits, to outlive the command, and to publish other things than files. */

const FILL = (folder: string) =>
  `folder=$(mktemp -d ${folder}/escape-XXXXXX); failed=0; for i in $(seq $N); do head -c 8000000 /dev/zero > $folder/$i || failed=1; done; rm -rf $folder; [ $failed = 0 ] && reached`;

const LARGE_FILES = 'for i in $(seq $N); do head -c 10000000 /dev/zero > big-$i; done';

export const AMOUNTS: readonly Attempt[] = [
  {
    name: 'processes in a row',
    item: 'fork bomb',
    command: perl(`for (1 .. $ENV{N}) { $p = fork; last unless defined $p; if (!$p) { sleep 2; exit } } sleep 1`),
    sizes: [200, 2000],
    seen: 'processes',
  },
  {
    name: 'processes that double',
    item: 'fork bomb',
    command: perl(`for (1 .. $ENV{N}) { fork } sleep 2`),
    sizes: [8, 14],
    seen: 'processes',
  },
  {
    name: 'a function that calls itself twice',
    item: 'fork bomb',
    command: 'b() { if (($1 > 0)); then b $(($1 - 1)) | b $(($1 - 1)) & else sleep 2; fi; wait; }; b $N',
    sizes: [7, 1000],
    seconds: 4,
    seen: 'processes',
  },
  {
    name: 'one large text',
    item: 'memory of one process',
    command: perl(`$n = 900 << 20; $x = "x" x $n; select undef, undef, undef, 1`),
    seen: 'memory',
  },
  {
    name: 'a large text in awk',
    item: 'memory of one process',
    command: `awk -v n=$N 'BEGIN { x = "xxxxxxxxxxxxxxxx"; for (i = 0; i < n; i++) x = x x; print length(x); system("sleep 1") }'`,
    sizes: [26, 30],
    seen: 'memory',
  },
  {
    name: 'a text in each of many processes',
    item: 'memory of many processes',
    command: perl(`for (1 .. $ENV{N}) { if (!fork) { $n = 50 << 20; $x = "x" x $n; sleep 2; exit } } 1 while wait > 0`),
    sizes: [18, 50],
    seen: 'memory',
  },
  {
    name: 'a process whose name looks like a parent',
    item: 'memory of many processes',
    command: `cp /usr/bin/perl 'x) S 1 1'; './x) S 1 1' -e 'for (1 .. $ENV{N}) { if (!fork) { $n = 50 << 20; $x = "x" x $n; sleep 2; exit } } 1 while wait > 0'`,
    sizes: [18, 50],
    seen: 'memory',
  },
  {
    name: 'a 10 GB file',
    item: '10 GB file',
    command: 'head -c $N /dev/zero > big',
    sizes: [600_000_000, 10_000_000_000],
    seen: 'disk',
  },
  {
    name: 'many large files',
    item: '10 GB file',
    command: LARGE_FILES,
    sizes: [60, 1000],
    seconds: 20,
    seen: 'disk',
  },
  {
    name: 'large files below a name that is not UTF-8',
    item: '10 GB file',
    command: `mkdir $'\\xff'; cd $'\\xff'; ${LARGE_FILES}`,
    sizes: [60, 1000],
    seconds: 20,
    seen: 'disk',
  },
  {
    name: 'large files in a folder that is renamed without end',
    item: '10 GB file',
    command: `mkdir d0; ${perl('$n = 0; $n++ while rename "d$n", "d" . ($n + 1)')} & cd d0; ${LARGE_FILES}; kill $!`,
    sizes: [60, 1000],
    seconds: 20,
    seen: 'disk',
  },
  {
    name: 'allocate a file',
    item: '10 GB file',
    command: 'fallocate -l $N big',
    sizes: [600_000_000, 10_000_000_000],
    seen: 'disk',
  },
  {
    name: 'a large file by the shell',
    item: '10 GB file',
    command: 'printf "%02000000d" 7 > part; for i in $(seq $N); do cat part >> big; done',
    sizes: [300, 10_000],
    seconds: 15,
    seen: 'disk',
  },
  { name: 'a sparse file', item: 'sparse file', command: 'truncate -s 10G sparse', seen: 'size' },
  {
    name: 'a byte far away',
    item: 'sparse file',
    command: 'echo x | dd of=sparse bs=1 seek=5000000000 status=none',
    seen: 'size',
  },
  {
    name: 'many files',
    item: '100 000 files',
    command: perl(`for (1 .. $ENV{N}) { open F, ">", "f$_" or last }`),
    sizes: [2500, 100_000],
    seconds: 30,
    seen: 'entries',
  },
  {
    name: 'many files by the shell',
    item: '100 000 files',
    command: 'for i in $(seq $N); do : > f$i; done',
    sizes: [2500, 100_000],
    seconds: 20,
    seen: 'entries',
  },
  {
    name: 'many folders',
    item: '100 000 files',
    command: 'seq $N | xargs mkdir',
    sizes: [2500, 100_000],
    seconds: 20,
    seen: 'entries',
  },
  { name: 'fill /tmp', item: 'full /tmp', command: FILL('/tmp'), sizes: [12, 200], seconds: 20, seen: 'printed' },
  {
    name: 'files in /tmp',
    item: 'full /tmp',
    command: `folder=$(mktemp -d /tmp/escape-XXXXXX); cd $folder; ${perl('for (1 .. $ENV{N}) { open F, ">", "f$_" or exit 1 }')} && sleep 2 && reached; rm -rf $folder`,
    sizes: [2000, 1_000_000],
    seconds: 30,
    seen: 'printed',
  },
  {
    name: 'fill /dev/shm',
    item: 'full /dev/shm',
    command: FILL('/dev/shm'),
    sizes: [4, 200],
    seconds: 20,
    seen: 'printed',
  },
  {
    name: 'semaphores',
    item: 'memory of many processes',
    command: perl(`
      for (1 .. $ENV{N}) { push @all, semget(0, 32000, 0600) // last }
      ${REACHED} if @all == $ENV{N};
      semctl $_, 0, 0, 0 for @all`),
    sizes: [2, 100],
    seen: 'printed',
  },
  {
    name: 'shared memory that no process touches',
    item: 'memory of many processes',
    // MADV_DONTNEED gives the pages of the process back, and keeps the memory.
    command: perl(`
      for (1 .. $ENV{N}) {
        $at = syscall(${call(9, 222)}, 0, 100 << 20, 3, 0x21, -1, 0);
        last if $at == -1;
        for ($part = 0; $part < 100 << 20; $part += 1 << 20) {
          syscall(${call(28, 233)}, $at + $part, 1 << 20, 23) == 0 or exit;
          syscall(${call(28, 233)}, $at + $part, 1 << 20, 4);
        }
      }
      sleep 1;
      ${REACHED}`),
    sizes: [2, 20],
    seen: 'printed',
  },
  {
    name: 'pages in pipes',
    item: 'memory of many processes',
    command: perl(`
      pipe R, W;
      $x = "x" x 65536;
      $v = pack("P65536Q", $x, 4096);
      ${REACHED} if syscall(${call(278, 75)}, fileno(W), $v, 1, 0) > 0`),
    seen: 'printed',
  },
  {
    name: 'buffers of sockets',
    item: 'memory of many processes',
    command: perl(`
      use Socket;
      use Fcntl;
      for (1 .. $ENV{N}) {
        if (!fork) {
          for (1 .. 400) {
            socketpair(my $one, my $two, PF_UNIX, SOCK_STREAM, 0) or last;
            fcntl $one, F_SETFL, O_NONBLOCK;
            1 while syswrite $one, "x" x 65536;
            push @all, $one, $two;
          }
          sleep 3;
          exit;
        }
      }
      sleep 2;
      ${REACHED}`),
    sizes: [1, 40],
    seen: 'printed',
  },
  {
    name: 'output by the shell',
    item: 'endless output',
    command: 'for i in $(seq $N); do printf %0100000d $i; done',
    sizes: [30, 10_000],
    seen: 'flooded',
  },
  {
    name: 'output without end',
    item: 'endless output',
    command: 'yes | head -c $N',
    sizes: [5_000_000, 10_000_000_000],
    seen: 'flooded',
  },
  {
    name: 'errors without end',
    item: 'endless output',
    command: 'yes | head -c $N >&2',
    sizes: [5_000_000, 10_000_000_000],
    seen: 'flooded',
  },
];

export const ENDING: readonly Attempt[] = [
  {
    name: 'ignore signals',
    item: 'ignored signals',
    command: 'trap "" TERM INT HUP QUIT USR1 USR2; for i in $(seq 25); do sleep 0.1; done; echo > late',
    seconds: 1,
    seen: 'late',
  },
  {
    name: 'ignore signals in perl',
    item: 'ignored signals',
    command: perl(
      `$SIG{$_} = "IGNORE" for qw(TERM INT HUP QUIT); select undef, undef, undef, 0.1 for 1 .. 25; open F, ">", "late"`,
    ),
    seconds: 1,
    seen: 'late',
  },
  {
    name: 'another session',
    item: 'daemons',
    command: '(setsid bash -c "sleep 1.5; echo > late" > /dev/null 2>&1 &)',
    seen: 'late',
  },
  {
    name: 'a daemon',
    item: 'daemons',
    command: perl(`
      use POSIX;
      exit if fork;
      POSIX::setsid;
      exit if fork;
      POSIX::close($_) for 0 .. 255;
      $SIG{$_} = "IGNORE" for qw(TERM HUP);
      select undef, undef, undef, 1.5;
      open F, ">", "late"`),
    seen: 'late',
  },
  {
    name: 'a stopped process',
    item: 'daemons',
    command:
      'nohup bash -c "kill -STOP \\$\\$; echo > late" > /dev/null 2>&1 & one=$!; (sleep 1.5; kill -CONT $one) > /dev/null 2>&1 & disown -a',
    seen: 'late',
  },
];

export const LEFT_BEHIND: readonly Attempt[] = [
  { name: 'read by a link', item: 'links', command: 'ln -s "$HOST_FILE" link; cat link', seen: 'printed' },
  {
    name: 'read by a link to a folder',
    item: 'links',
    command: 'ln -s "$HOST" link; cat link/host.txt',
    seen: 'printed',
  },
  { name: 'write by a link', item: 'links', command: 'ln -s "$DROP" link; echo "$TOKEN" > link', seen: 'changed' },
  { name: 'a hard link', item: 'links', command: 'ln "$OTHER" link && cat link', seen: 'printed' },
  { name: 'a relative link', item: 'links', command: 'ln -s ../43 link; cat link/secret.txt', seen: 'printed' },
  { name: 'leave a link', item: 'links', command: 'ln -s "$HOST_FILE" link', names: ['link'], seen: 'published' },
  {
    name: 'leave a link to a folder',
    item: 'links',
    command: 'ln -s "$HOST" link',
    names: ['link/host.txt'],
    seen: 'published',
  },
  {
    name: 'replace a file by a link',
    item: 'links',
    command: 'rm own.txt; ln -s "$HOST_FILE" own.txt',
    names: ['own.txt'],
    seen: 'published',
  },
  { name: 'leave a FIFO', item: 'FIFOs', command: 'mkfifo pipe', names: ['pipe'], seen: 'published' },
  {
    name: 'leave a socket',
    item: 'FIFOs',
    command: perl(`use Socket; socket S, PF_UNIX, SOCK_STREAM, 0; bind S, sockaddr_un("socket")`),
    names: ['socket'],
    seen: 'published',
  },
  {
    name: 'make a device',
    item: 'devices',
    command: 'mknod device c 1 5 && head -c 1 device | od -c | grep -q "\\\\0" && reached',
    seen: 'printed',
    root: true,
  },
  {
    name: 'leave a device',
    item: 'devices',
    command: 'mknod device b 7 0',
    names: ['device'],
    seen: 'published',
    root: true,
  },
  {
    name: 'devices of the machine',
    item: 'devices',
    command: 'for one in /dev/*; do [ -b "$one" ] || [ "$one" = /dev/kmsg ] || [ "$one" = /dev/mem ] && reached; done',
    seen: 'printed',
  },
  {
    name: 'a program of root',
    item: 'set-uid files',
    command: '[ "$("$SKILLS/set-uid-id" -u)" = 0 ] && reached',
    seen: 'printed',
  },
  {
    name: 'a set-uid copy of a shell',
    item: 'set-uid files',
    command: 'cp /bin/bash shell; chmod 6755 shell; [ "$(./shell -p -c "id -u")" = 0 ] && reached',
    seen: 'printed',
    root: true,
  },
  {
    name: 'names with control characters',
    item: 'forbidden names',
    command: `touch $'a\\nb' $'c\\x01d' $'e\\x7ff'`,
    names: ['a\nb', 'c\u0001d', 'e\u007ff'],
    seen: 'published',
  },
  {
    name: 'names with backslashes',
    item: 'forbidden names',
    command: `touch '..\\x' 'C:\\x'`,
    names: ['..\\x', 'C:\\x'],
    seen: 'published',
  },
  {
    name: 'names that are not UTF-8',
    item: 'forbidden names',
    command: `touch $'\\xff\\xfe'`,
    names: ['\ufffd\ufffd'],
    seen: 'published',
  },
  {
    name: 'names that look like others',
    item: 'forbidden names',
    command: `mkdir $'\\xef\\xbc\\x8e\\xef\\xbc\\x8e'; touch $'\\xef\\xbc\\x8e\\xef\\xbc\\x8e/x' ' ' '${FORM_VARIABLE}'`,
    names: ['\uff0e\uff0e/x', ' ', FORM_VARIABLE],
    seen: 'published',
  },
];
