import type { BadTool } from './bad-tools.ts';

const done = /^done$/;
/** The call of a tool that may not be repeated ended its process. */
const unknown = (message: string) =>
  new RegExp(
    `^The process of the agency ended while this call was under way, and its outcome is unknown: it may or may not have taken effect\\. ${message}`,
  );
const SILENT = unknown('Its event loop did not turn for \\d+ seconds; remove what loops or blocks\\.$');
const MEMORY = unknown('(It used more than 256 MiB|It crashed \\(SIGABRT\\), most likely because its memory was full)');
const EXIT = unknown('It ended itself with exit code \\d+; remove `process\\.exit`\\.$');
/** The process ends during this call or before it. */
const FINE_OR_NOT = /^(fine$|The process of the agency ended while|The tool failed: The process of the agency)/;
const STUCK = /^The tool failed: The tool took longer than 1 seconds and was stopped\.$/;

/** A call that may be repeated is made twice. */
const again = (tool: BadTool, message: string): BadTool => {
  const name = `${tool.name}_repeatable`;
  const where = `The tool \`${name}\` of the agency \`${agencyName(name)}\` \\(\`tools\\.ts\`\\)`;
  const output = new RegExp(`^${where} ended its process twice, and is not called again: ${message}`);
  return { ...tool, name, repeatable: true, calls: 2, output };
};

export const agencyName = (tool: string): string => tool.replaceAll('_', '-');

const THROW_IN_TIMER: BadTool = {
  name: 'throw_in_timer',
  code: `setTimeout(() => { throw new Error('in a timer'); }, 20); await never;`,
  output: unknown('in a timer$'),
};
const EXIT_NOW: BadTool = { name: 'exit', code: 'process.exit(0);', output: EXIT };
export const LOOP: BadTool = { name: 'endless_loop', code: 'while (true);', output: SILENT };
/** It is no fault to block for a while. */
export const BLOCK: BadTool = {
  name: 'block_of_10_s',
  code: `for (const end = Date.now() + 10_000; Date.now() < end; ); return 'done';`,
  output: done,
};
const ARRAY: BadTool = {
  name: 'array_of_2_gb',
  code: 'const all = []; while (true) all.push(new Array(1e6).fill(all.length));',
  output: MEMORY,
};

/** Every process starts two others, down to this depth: 127 processes. */
const FORK_DEPTH = 6;
const FORKS = `f() { if [ $1 -gt 0 ]; then f $(($1 - 1)) & f $(($1 - 1)) & fi; exec sleep 600; }; f ${FORK_DEPTH}`;

/** Tools that end their process, block it or break it. Each has an agency of its own. */
export const HARMFUL: readonly BadTool[] = [
  THROW_IN_TIMER,
  again(THROW_IN_TIMER, 'in a timer$'),
  EXIT_NOW,
  again(EXIT_NOW, 'It ended itself with exit code 0'),
  LOOP,
  again(LOOP, 'Its event loop did not turn'),
  ARRAY,
  { ...again(ARRAY, '(It used more than|It crashed)'), isVariant: true },
  {
    name: 'buffers_of_2_gb',
    code: 'const all = []; while (true) { all.push(Buffer.alloc(16e6, 1)); await sleep(20); }',
    output: MEMORY,
  },
  {
    name: 'buffers_without_pause',
    code: 'const all = []; for (let n = 0; n < 125; n += 1) all.push(Buffer.alloc(16e6, 1)); while (true);',
    output: MEMORY,
    isVariant: true,
  },
  {
    name: 'emitter_error',
    code: `setImmediate(() => new events.EventEmitter().emit('error', new Error('unheard'))); await never;`,
    output: unknown('unheard$'),
  },
  {
    name: 'worker_that_throws',
    code: `new threads.Worker('throw new Error("in a worker")', { eval: true }); await never;`,
    output: unknown('in a worker$'),
  },
  {
    name: 'throw_of_throwing_proxy_in_timer',
    code: 'setTimeout(() => { throw new Proxy({}, { get() { throw new Error(); }, getPrototypeOf() { throw new Error(); } }); }, 20); await never;',
    output: unknown('it threw a value that cannot be read$'),
    isVariant: true,
  },
  { name: 'exit_in_timer', code: 'setTimeout(() => process.exit(3), 20); await never;', output: EXIT, isVariant: true },
  {
    name: 'exit_after_result',
    code: `setTimeout(() => process.exit(3), 300); return 'done';`,
    output: done,
    after: FINE_OR_NOT,
  },
  {
    name: 'kill_of_itself',
    code: 'process.kill(process.pid); await never;',
    output: unknown('It was ended by SIGTERM\\.$'),
  },
  {
    name: 'sigkill_of_itself',
    code: `process.kill(process.pid, 'SIGKILL'); await never;`,
    output: unknown('It was ended by SIGKILL\\.$'),
    isVariant: true,
  },
  { name: 'stop_of_itself', code: `process.kill(process.pid, 'SIGSTOP'); await never;`, output: SILENT },
  { name: 'crash', code: 'process.abort();', output: unknown('It crashed \\(SIGABRT\\)') },
  {
    name: 'microtask_loop',
    code: 'const again = () => queueMicrotask(again); again(); await never;',
    output: SILENT,
  },
  {
    name: 'tick_loop',
    code: 'const again = () => process.nextTick(again); again(); await never;',
    output: SILENT,
    isVariant: true,
  },
  { name: 'immediate_loop', code: `const again = () => setImmediate(again); again(); return 'done';`, output: done },
  {
    name: 'blocking_wait',
    code: 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);',
    output: SILENT,
    isVariant: true,
  },
  { name: 'endless_pattern', code: `return /^(a+)+$/.test(\`\${'a'.repeat(60)}b\`);`, output: SILENT, isVariant: true },
  {
    name: 'blocking_command',
    code: `processes.execSync('sleep 600');`,
    output: SILENT,
    startsProcesses: true,
  },
  { name: 'promise_that_never_settles', code: 'await never;', output: STUCK, timeoutSeconds: 1 },
  {
    name: 'ignored_abort',
    code: 'for (;;) await sleep(20);',
    output: STUCK,
    timeoutSeconds: 1,
    isVariant: true,
  },
  {
    name: 'thenable_that_never_settles',
    code: 'return { then() {} };',
    output: STUCK,
    timeoutSeconds: 1,
    isVariant: true,
  },
  {
    name: 'generator_that_hangs',
    code: `return (async function* () { yield 'one'; await never; })();`,
    output: STUCK,
    timeoutSeconds: 1,
    isVariant: true,
  },
  {
    name: 'removed_listeners',
    code: `process.removeAllListeners(); setTimeout(() => { throw new Error('unreported'); }, 20); await never;`,
    output: EXIT,
  },
  {
    name: 'replaced_exit',
    code: `process.exit = () => {}; setTimeout(() => { throw new Error('in a timer'); }, 20); await never;`,
    output: unknown('in a timer$'),
    isVariant: true,
  },
  { name: 'closed_channel', code: 'fs.closeSync(3); await sleep(50);', output: unknown('It was ended by SIGKILL\\.$') },
  {
    name: 'garbage_on_channel',
    code: 'fs.writeSync(3, Buffer.alloc(64, 255)); await never;',
    output: unknown('It wrote to the channel of the server'),
  },
  {
    name: 'text_on_channel',
    code: `fs.writeSync(3, '\\u0001\\0\\0\\0x'.repeat(20)); await never;`,
    output: unknown('It wrote to the channel of the server'),
    isVariant: true,
  },
  {
    name: 'forged_answers',
    code: `const send = (message) => { const body = v8.serialize(message); const head = Buffer.alloc(4); head.writeUInt32LE(body.length); fs.writeSync(3, Buffer.concat([head, body])); };
      for (let id = 0; id < 100; id += 1) for (const done of [null, 1, { text: null }]) send({ id, done });
      await never;`,
    output: /^The process of the agency sent an answer that is no result of a tool; the outcome is unknown\.$/,
    timeoutSeconds: 1,
  },
  {
    name: 'forged_messages',
    code: `const send = (message) => { const body = v8.serialize(message); const head = Buffer.alloc(4); head.writeUInt32LE(body.length); fs.writeSync(3, Buffer.concat([head, body])); };
      send({ id: 1e9, done: null }); send({ withheld: {} }); send({ fault: null }); send(null); send(7);
      await never;`,
    output: unknown('It wrote to the channel of the server'),
  },
  {
    name: 'polluted_objects',
    code: `Object.prototype.polluted = 'yes'; Object.prototype.toJSON = () => 'polluted'; return { a: 1 };`,
    output: /^"polluted"$/,
  },
  {
    name: 'thenable_objects',
    code: `Object.prototype.then = function (resolve) { resolve('hijacked'); }; return { a: 1 };`,
    output: /^The tool failed: Cannot read properties of undefined/,
    timeoutSeconds: 1,
    after: /^The tool failed: /,
  },
  {
    name: 'replaced_then',
    code: `Promise.prototype.then = () => { throw new Error('no then'); }; return 'done';`,
    output: done,
  },
  {
    name: 'replaced_json',
    code: `JSON.stringify = JSON.parse = () => { throw new Error('no JSON'); }; return { a: 1 };`,
    output: /^The tool failed: no JSON$/,
  },
  {
    name: 'replaced_array_methods',
    code: `for (const name of ['push', 'map', 'slice', 'shift', 'concat', Symbol.iterator]) Array.prototype[name] = () => { throw new Error('no arrays'); }; return { a: 1 };`,
    output: EXIT,
  },
  {
    name: 'replaced_map_methods',
    code: `Map.prototype.get = Map.prototype.delete = () => { throw new Error('no maps'); }; return 'done';`,
    output: done,
    after: /^The tool failed: no maps$/,
    isVariant: true,
  },
  {
    name: 'replaced_buffer_methods',
    code: `Buffer.prototype.writeUInt32LE = () => 0; Buffer.prototype.readUInt32LE = () => 0; return 'done';`,
    output: unknown('It (wrote to the channel of the server|was ended by SIGKILL)'),
    isVariant: true,
  },
  {
    name: 'replaced_memory_usage',
    code: `process.memoryUsage = () => { throw new Error('no memory'); }; await sleep(2500); return 'done';`,
    output: done,
  },
  {
    name: 'throw_after_load',
    module: `setTimeout(() => { throw new Error('after loading'); }, 300);`,
    code: 'await sleep(600);',
    output:
      /^(The process of the agency ended while .* after loading$|The tool failed: The process of the agency `throw-after-load` is not running)/,
    mayFailBefore: true,
    after: FINE_OR_NOT,
  },
  {
    name: 'fork_bomb',
    code: `processes.spawn('/bin/sh', ['-c', ${JSON.stringify(FORKS)}], { stdio: 'ignore' }); await sleep(500); return 'done';`,
    output: done,
  },
  {
    name: 'forks_and_exit',
    code: `processes.spawn('/bin/sh', ['-c', ${JSON.stringify(FORKS)}], { stdio: 'ignore' }); await sleep(200); process.exit(1);`,
    output: EXIT,
    startsProcesses: true,
    isVariant: true,
  },
  {
    name: 'child_left_running',
    code: `processes.spawn('sleep', ['600'], { stdio: 'ignore' }).unref(); await sleep(50); process.exit(0);`,
    output: EXIT,
    startsProcesses: true,
  },
];
