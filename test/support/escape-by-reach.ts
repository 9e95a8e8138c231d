import {
  type Attempt,
  CLONE_NEWUSER,
  call,
  NETLINK,
  PACKET,
  PTRACE_SEIZE,
  perl,
  REACHED,
  SCAN,
  SIGCHLD,
  socket,
  systemCall,
  VSOCK,
} from './escape-attempt.ts';

/* Attempts to reach something outside of the sandbox. */

export const HOST_FILES: readonly Attempt[] = [
  { name: 'read a file', item: 'host files', command: 'cat "$HOST_FILE"', seen: 'printed' },
  {
    name: 'read a file by a relative path',
    item: 'host files',
    command: 'cat ../../../../../../../../../../../..$HOST_FILE',
    seen: 'printed',
  },
  { name: 'read by the own root', item: 'host files', command: 'cat "/proc/self/root$HOST_FILE"', seen: 'printed' },
  {
    name: 'read by the root of the server',
    item: 'host files',
    command: 'cat "/proc/$SERVER/root$HOST_FILE" "/proc/1/root$HOST_FILE"',
    seen: 'printed',
  },
  {
    name: 'read by the working folder of the server',
    item: 'host files',
    command: 'cat "/proc/$SERVER/cwd/../../../../../../../..$HOST_FILE"',
    seen: 'printed',
  },
  { name: 'read shared memory of the machine', item: 'host files', command: 'cat "$SHM_FILE"', seen: 'printed' },
  { name: 'copy a folder', item: 'host files', command: 'cp -r "$HOST" copy; cat copy/host.txt', seen: 'printed' },
  {
    name: 'read by the shell itself',
    item: 'host files',
    command:
      'while read -r line; do echo "$line"; done < "$HOST_FILE"; mapfile lines < "$HOST_FILE"; echo "$lines"; source "$HOST_FILE"',
    seen: 'printed',
  },
  {
    name: 'read by programs that start programs',
    item: 'host files',
    command: `awk 'BEGIN { system("cat \\"$HOST_FILE\\"") }'; find . -maxdepth 0 -exec cat "$HOST_FILE" ";"; xargs cat <<< "$HOST_FILE"`,
    seen: 'printed',
  },
  {
    name: 'read by other interpreters',
    item: 'host files',
    command: `perl -pe 1 "$HOST_FILE"; python3 -c 'import os; print(open(os.environ["HOST_FILE"]).read())'; js-exec -c 'console.log(require("fs").readFileSync(process.env.HOST_FILE, "utf8"))'; node -p 'require("fs").readFileSync(process.env.HOST_FILE, "utf8")'`,
    seen: 'printed',
  },
  { name: 'write a file', item: 'host files', command: 'echo "$TOKEN" > "$DROP"', seen: 'changed' },
  {
    name: 'users of the machine',
    item: 'host files',
    command: 'grep -q ^root: /etc/passwd && reached',
    seen: 'printed',
  },
  {
    name: 'passwords',
    item: 'host files',
    command: 'grep -q ^root: /etc/shadow && reached',
    seen: 'printed',
    root: true,
  },
  {
    name: 'file handles',
    item: 'host files',
    command: systemCall(
      call(303, 264),
      '-100, $f, $h, $m, 0',
      '$f = "."; $h = pack("LL", 128, 0) . "\\0" x 128; $m = "\\0" x 8;',
    ),
    seen: 'printed',
  },
  {
    name: 'settings of the kernel',
    item: 'host files',
    command: 'old=$(cat /proc/sys/kernel/core_pattern) && echo "$old" > /proc/sys/kernel/core_pattern && reached',
    seen: 'printed',
    root: true,
  },
  { name: 'read the data folder', item: 'data folder', command: 'cat "$DATA/runwire.db"', seen: 'printed' },
  {
    name: 'write to the data folder',
    item: 'data folder',
    command: 'echo "$TOKEN" >> "$DATA/runwire.db"',
    seen: 'changed',
  },
  { name: 'read the variables of an agency', item: 'agencies', command: 'cat "$AGENCY/.env"', seen: 'printed' },
  {
    name: 'change an agency',
    item: 'agencies',
    command: 'echo "# $TOKEN" >> "$AGENCY/agency.yaml"',
    seen: 'changed',
  },
  {
    name: 'change the files of the agency',
    item: 'agencies',
    command:
      'chmod u+w "$SKILLS" "$SKILLS/SKILL.md"; echo "$TOKEN" >> "$SKILLS/SKILL.md"; rm -f "$SKILLS/SKILL.md"; echo "$TOKEN" > "$SKILLS/SKILL.md"',
    seen: 'changed',
  },
  {
    name: 'read the folder of another command',
    item: "other members' files",
    command: 'cat "$OTHER"',
    seen: 'printed',
  },
  {
    name: 'read the folder beside its own',
    item: "other members' files",
    command: 'cat ../43/secret.txt',
    seen: 'printed',
  },
  {
    name: 'write to the folder beside its own',
    item: "other members' files",
    command: 'mkdir -p ../43; echo "$TOKEN" > ../43/secret.txt',
    seen: 'changed',
  },
  {
    name: 'move its own folder',
    item: "other members' files",
    command: 'cd ..; mv 42 44; ln -s 43 42; cat 42/secret.txt',
    seen: 'printed',
  },
];

export const PROCESSES: readonly Attempt[] = [
  { name: 'own environment', item: 'environment of the server', command: 'env; printenv; export -p', seen: 'printed' },
  {
    name: 'environment of all processes',
    item: 'environment of the server',
    command: 'cat /proc/self/environ /proc/$PPID/environ /proc/1/environ /proc/[0-9]*/environ | tr "\\0" "\\n"',
    seen: 'printed',
  },
  {
    name: 'environment of the server',
    item: 'environment of the server',
    command: 'tr "\\0" "\\n" < "/proc/$SERVER/environ"',
    seen: 'printed',
  },
  {
    name: 'environment of other interpreters',
    item: 'environment of the server',
    command: `perl -e 'print %ENV'; python3 -c 'import os; print(os.environ)'; awk 'BEGIN { for (n in ENVIRON) print ENVIRON[n] }'; js-exec -c 'console.log(process.env)'`,
    seen: 'printed',
  },
  {
    name: 'read every descriptor',
    item: 'descriptors of the server',
    command: perl(`
      for (3 .. 255) {
        open F, "<&=$_" or next;
        sysseek F, 0, 0 or next;
        sysread F, $part, 1000;
        print $part;
      }`),
    seen: 'printed',
  },
  {
    name: 'open every descriptor again',
    item: 'descriptors of the server',
    command: 'for path in /proc/self/fd/*; do if [ -f "$path" ]; then cat "$path"; fi; done',
    seen: 'printed',
  },
  {
    name: 'descriptors of all processes',
    item: 'descriptors of the server',
    command:
      'for path in /proc/$SERVER/fd/* /proc/[0-9]*/fd/*; do if [ -f "$path" ]; then head -c 1000 "$path"; fi; done',
    seen: 'printed',
  },
  {
    name: 'paths in /proc',
    item: 'host paths in /proc',
    command: SCAN,
    variables: ['HOST_REVERSED'],
    seen: 'printed',
  },
  {
    name: 'other processes',
    item: 'host paths in /proc',
    command: '[ -d "/proc/$SERVER" ] && [ -d "/proc/$VICTIM" ] && reached',
    seen: 'printed',
  },
  {
    name: 'trace a process',
    item: 'ptrace',
    command: systemCall(call(101, 117), `${PTRACE_SEIZE}, $ENV{VICTIM} + 0, 0, 0`),
    seen: 'printed',
  },
  { name: 'be traced', item: 'ptrace', command: systemCall(call(101, 117), '0, 0, 0, 0'), seen: 'printed' },
  {
    name: 'read memory',
    item: 'ptrace',
    command: systemCall(
      call(310, 270),
      '$$ + 0, $l, 1, $r, 1, 0',
      '$b = "x" x 8; $s = "y" x 8; $l = pack("P8Q", $b, 8); $r = pack("P8Q", $s, 8);',
    ),
    seen: 'printed',
  },
  {
    name: 'take a descriptor',
    item: 'ptrace',
    command: systemCall(438, '$p, 0, 0', '$p = syscall(434, $ENV{VICTIM} + 0, 0);'),
    seen: 'printed',
  },
  { name: 'maps of a process', item: 'ptrace', command: 'grep -q . "/proc/$VICTIM/maps" && reached', seen: 'printed' },
  {
    name: 'end all processes',
    item: 'kill -1',
    // Outside, $KILL is one process.
    command: 'for one in $KILL; do kill -9 -- "$one"; done; perl -e \'kill 9, split " ", $ENV{KILL}\'',
    seen: 'ended',
  },
];

export const NETWORK: readonly Attempt[] = [
  {
    name: 'TCP by the shell',
    item: 'TCP',
    command: 'exec 5<> "/dev/tcp/127.0.0.1/$TCP_PORT" && echo "$TOKEN" >&5',
    seen: 'heard',
  },
  {
    name: 'TCP by perl',
    item: 'TCP',
    command: perl(`
      use Socket;
      socket S, PF_INET, SOCK_STREAM, 0;
      connect S, sockaddr_in($ENV{TCP_PORT}, INADDR_LOOPBACK) or exit;
      syswrite S, $ENV{TOKEN}`),
    seen: 'heard',
  },
  {
    name: 'HTTP',
    item: 'TCP',
    command: 'curl -s -m 3 "http://127.0.0.1:$TCP_PORT/$TOKEN"; curl -s -m 3 "http://localhost:$TCP_PORT/$TOKEN"',
    seen: 'heard',
  },
  {
    name: 'connections of the machine',
    item: 'TCP',
    command: 'grep -qi ":$(printf %04X "$TCP_PORT") " /proc/net/tcp && reached',
    seen: 'printed',
  },
  { name: 'raw packets', item: 'TCP', command: socket(2, 3, 1), seen: 'printed', root: true },
  {
    name: 'UDP by the shell',
    item: 'UDP',
    command: 'echo "$TOKEN" > "/dev/udp/127.0.0.1/$UDP_PORT"',
    seen: 'heard',
  },
  {
    name: 'UDP by perl',
    item: 'UDP',
    command: perl(`
      use Socket;
      socket S, PF_INET, SOCK_DGRAM, 0;
      send S, $ENV{TOKEN}, 0, sockaddr_in($ENV{UDP_PORT}, INADDR_LOOPBACK)`),
    seen: 'heard',
  },
  {
    name: 'a question to a name server',
    item: 'DNS',
    command: perl(`
      use Socket;
      socket S, PF_INET, SOCK_DGRAM, 0;
      $question = pack("n6", 1, 256, 1, 0, 0, 0) . pack("C/a* C/a* C n2", $ENV{TOKEN}, "example", 0, 1, 1);
      send S, $question, 0, sockaddr_in($ENV{UDP_PORT}, INADDR_LOOPBACK)`),
    seen: 'heard',
  },
  { name: 'names of the machine', item: 'DNS', command: 'getent hosts "$HOST_NAME" && reached', seen: 'printed' },
  {
    name: 'an abstract socket',
    item: 'abstract sockets',
    command: perl(`
      use Socket;
      socket S, PF_UNIX, SOCK_STREAM, 0;
      connect S, pack("S a*", AF_UNIX, "\\0" . $ENV{ABSTRACT}) or exit;
      syswrite S, $ENV{TOKEN}`),
    seen: 'heard',
  },
  {
    name: 'a socket in a folder',
    item: 'abstract sockets',
    command: perl(`
      use Socket;
      socket S, PF_UNIX, SOCK_STREAM, 0;
      connect S, sockaddr_un($ENV{SOCKET}) or exit;
      syswrite S, $ENV{TOKEN}`),
    seen: 'heard',
  },
  { name: 'a vsock socket', item: 'vsock', command: socket(VSOCK, 1, 0), seen: 'printed' },
  { name: 'a vsock datagram socket', item: 'vsock', command: socket(VSOCK, 5, 0), seen: 'printed' },
  { name: 'a netlink socket', item: 'netlink', command: socket(NETLINK, 3, 0), seen: 'printed' },
  { name: 'events of the kernel', item: 'netlink', command: socket(NETLINK, 3, 15), seen: 'printed' },
  { name: 'a packet socket', item: 'netlink', command: socket(PACKET, 3, 0), seen: 'printed', root: true },
];

export const KERNEL: readonly Attempt[] = [
  {
    name: 'the keyring of the session',
    item: 'keyrings',
    command: systemCall(call(250, 219), '0, -3, 1'),
    seen: 'printed',
  },
  {
    name: 'a new key',
    item: 'keyrings',
    command: systemCall(call(248, 217), '$t, $d, $p, 1, -2', '$t = "user"; $d = "escape"; $p = "x";'),
    seen: 'printed',
  },
  { name: 'unshare', item: 'nested namespaces', command: 'unshare -Ur true && reached', seen: 'printed' },
  {
    name: 'unshare of one namespace',
    item: 'nested namespaces',
    command: systemCall(call(272, 97), String(CLONE_NEWUSER)),
    seen: 'printed',
  },
  {
    name: 'clone',
    item: 'nested namespaces',
    command: perl(
      `$r = syscall(${call(56, 220)}, ${CLONE_NEWUSER + SIGCHLD}, 0, 0, 0, 0); exit if $r == 0; ${REACHED} if $r > 0`,
    ),
    seen: 'printed',
  },
  {
    name: 'clone3',
    item: 'nested namespaces',
    command: perl(`
      $a = pack("Q8", ${CLONE_NEWUSER}, 0, 0, 0, ${SIGCHLD}, 0, 0, 0);
      $r = syscall(435, $a, 64);
      exit if $r == 0;
      ${REACHED} if $r > 0`),
    seen: 'printed',
  },
  {
    name: 'namespaces of the server',
    item: 'nested namespaces',
    command: perl(`
      for (glob "/proc/$ENV{SERVER}/ns/uts /proc/1/ns/uts /proc/self/ns/uts") {
        open F, "<", $_ or next;
        ${REACHED} if syscall(${call(308, 268)}, fileno(F), 0) == 0;
      }`),
    seen: 'printed',
    root: true,
  },
  {
    name: 'mount',
    item: 'mount',
    command: 'mkdir m; mount -t tmpfs none m && reached; umount m',
    seen: 'printed',
    root: true,
  },
  {
    name: 'mount in a new namespace',
    item: 'mount',
    command: 'mkdir m; unshare -Urm mount -t tmpfs none m && reached',
    seen: 'printed',
  },
  {
    name: 'a new file system',
    item: 'mount',
    command: systemCall(430, '$t, 0', '$t = "tmpfs";'),
    seen: 'printed',
    root: true,
  },
  {
    name: 'a copy of a mount',
    item: 'mount',
    command: systemCall(428, '-100, $p, 1', '$p = ".";'),
    seen: 'printed',
    root: true,
  },
  { name: 'change the root', item: 'mount', command: perl(`${REACHED} if chroot "."`), seen: 'printed', root: true },
  {
    name: 'a BPF map',
    item: 'BPF',
    command: systemCall(call(321, 280), '0, $a, 72', '$a = pack("LLLL", 1, 4, 4, 1) . "\\0" x 100;'),
    seen: 'printed',
    root: true,
  },
  {
    name: 'counters of the kernel',
    item: 'BPF',
    command: systemCall(call(298, 241), '$a, 0, -1, -1, 0', '$a = pack("LLQ", 1, 128, 0) . "\\0" x 128;'),
    seen: 'printed',
    root: true,
  },
  { name: 'page faults by a program', item: 'BPF', command: systemCall(call(323, 282), '1'), seen: 'printed' },
  { name: 'a ring', item: 'io_uring', command: systemCall(425, '1, $p', '$p = "\\0" x 120;'), seen: 'printed' },
  {
    name: 'messages of the kernel',
    item: 'devices',
    command: systemCall(call(103, 116), '10, 0, 0'),
    seen: 'printed',
    root: true,
  },
];
