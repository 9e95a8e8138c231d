/** A tool with a mistake, and how its call must end. */
export interface BadTool {
  readonly name: string;
  /** The body of `execute`. `sleep`, `never` and `fs` are in its scope. */
  readonly code: string;
  /** Code of the module, before its tools. */
  readonly module?: string;
  /** What the model gets. */
  readonly output: RegExp;
  readonly repeatable?: boolean;
  readonly timeoutSeconds?: number;
  /** How often the tool is called; 1 by default. */
  readonly calls?: number;
  /** True if the call can fail before it is made. */
  readonly mayFailBefore?: boolean;
  /** What the model gets from a good tool of the same agency afterwards. `fine` by default. */
  readonly after?: RegExp;
  /** True if the processes that the tool starts must end with the agency's process, which the call ends. */
  readonly startsProcesses?: boolean;
  /** True if the short form leaves it out: another tool has nearly the same mistake. */
  readonly isVariant?: boolean;
}

const done = /^done$/;
const threw = (message: string) => new RegExp(`^The tool failed: ${message}`);
const UNREADABLE = threw('it threw a value that cannot be read$');
const TOO_LATE = threw('The tool took longer than 1 seconds and was stopped\\.$');

/** Tools that do not end their process. One process serves all of them, in this order. */
export const HARMLESS: readonly BadTool[] = [
  { name: 'unhandled_rejection', code: `void Promise.reject(new Error('forgotten')); return 'done';`, output: done },
  {
    name: 'late_rejection',
    code: `setTimeout(() => void Promise.reject(null), 5); await sleep(50); return 'done';`,
    output: done,
  },
  {
    name: 'endless_recursion',
    code: 'const again = () => again() + 1; return again();',
    output: threw('Maximum call stack'),
  },
  {
    name: 'cyclic_result',
    code: 'const result = {}; result.self = result; return result;',
    output: threw('Converting circular structure'),
  },
  { name: 'bigint_result', code: 'return { count: 1n };', output: threw('Do not know how to serialize a BigInt') },
  { name: 'symbol_result', code: `return Symbol('x');`, output: /^$/ },
  { name: 'function_result', code: 'return () => 1;', output: /^$/ },
  { name: 'throwing_to_json', code: `return { toJSON() { throw new Error('no JSON'); } };`, output: threw('no JSON$') },
  { name: 'throwing_field', code: `return { get x() { throw new Error('no field'); } };`, output: threw('no field$') },
  {
    name: 'throwing_proxy_result',
    code: `return new Proxy({}, { get() { throw new Error('no access'); } });`,
    output: threw('no access$'),
  },
  {
    name: 'proto_key_result',
    code: `return JSON.parse('{"__proto__":{"admin":true}}');`,
    output: /^\{"__proto__":\{"admin":true\}\}$/,
  },
  { name: 'huge_result', code: `return 'x'.repeat(1e8);`, output: /^x{40000}\n\[The output has 100000000 characters/ },
  { name: 'huge_error', code: `throw new Error('x'.repeat(5e7));`, output: threw('x{1000}') },
  {
    name: 'thenable_that_throws',
    code: `return { then() { throw new Error('no then'); } };`,
    output: threw('no then$'),
  },
  {
    name: 'thenable_that_resolves_twice',
    code: `return { then(resolve) { resolve('first'); resolve('second'); throw new Error('third'); } };`,
    output: /^first$/,
  },
  { name: 'throw_null', code: 'throw null;', output: threw('null$') },
  { name: 'throw_undefined', code: 'throw undefined;', output: threw('undefined$') },
  { name: 'throw_text', code: `throw 'a text';`, output: threw('a text$') },
  { name: 'throw_symbol', code: `throw Symbol('odd');`, output: threw('Symbol\\(odd\\)$') },
  { name: 'throw_without_prototype', code: 'throw Object.create(null);', output: UNREADABLE },
  {
    name: 'throw_throwing_proxy',
    code: `throw new Proxy({}, { get() { throw new Error(); }, getPrototypeOf() { throw new Error(); } });`,
    output: UNREADABLE,
  },
  {
    name: 'throw_throwing_message',
    code: `throw Object.defineProperty(new Error(), 'message', { get() { throw new Error(); } });`,
    output: UNREADABLE,
  },
  {
    name: 'reject_with_throwing_proxy',
    code: `void Promise.reject(new Proxy({}, { get() { throw new Error(); }, getPrototypeOf() { throw new Error(); } })); return 'done';`,
    output: done,
  },
  {
    name: 'generator_that_throws',
    code: `return (async function* () { yield 'one'; throw new Error('in the generator'); })();`,
    output: threw('in the generator$'),
  },
  {
    name: 'generator_that_never_ends',
    code: 'return (async function* () { for (let n = 0; ; n += 1) { yield n; await sleep(20); } })();',
    output: TOO_LATE,
    timeoutSeconds: 1,
  },
  {
    name: 'heeded_abort',
    code: `await new Promise((_, reject) => call.abortSignal.addEventListener('abort', () => reject(call.abortSignal.reason)));`,
    output: TOO_LATE,
    timeoutSeconds: 1,
  },
  {
    name: 'result_after_abort',
    code: `await new Promise((resolve) => call.abortSignal.addEventListener('abort', resolve)); return 'half';`,
    output: /^half$/,
    timeoutSeconds: 1,
  },
  {
    name: 'progress_flood',
    code: `for (let n = 0; n < 1e6; n += 1) call.progress(n); return 'done';`,
    output: done,
  },
  {
    name: 'unreadable_progress',
    code: `const cyclic = {}; cyclic.self = cyclic; call.progress(cyclic); await sleep(150); call.progress(new Proxy({}, { get() { throw new Error(); } })); return 'done';`,
    output: done,
  },
  {
    name: 'progress_after_result',
    code: `setInterval(() => call.progress('late'), 20); return 'done';`,
    output: done,
  },
  {
    name: 'printed_megabyte',
    code: `process.stdout.write('x'.repeat(1e6)); process.stderr.write('y'.repeat(1e6)); console.log('z'); return 'done';`,
    output: done,
  },
  {
    name: 'handles_left_open',
    code: `net.createServer().listen(0); setInterval(() => {}, 1000); fs.watch('/tmp', () => {}); return 'done';`,
    output: done,
  },
  { name: 'changed_folder', code: `process.chdir('/'); return 'done';`, output: done },
  {
    name: 'ignored_signals',
    code: `process.on('SIGTERM', () => {}); process.on('SIGINT', () => {}); return 'done';`,
    output: done,
  },
  {
    name: 'changed_arguments',
    code: `input.self = input; delete call.messages; call.callId = null; Object.freeze(call); return 'done';`,
    output: done,
  },
  {
    name: 'broken_module_state',
    module: 'let calls = 0;',
    code: `calls += 1; if (calls > 1) throw new Error('called before'); return 'done';`,
    output: done,
  },
  {
    name: 'deleted_environment',
    code: `for (const name of Object.keys(process.env)) delete process.env[name]; process.env = null; return 'done';`,
    output: done,
  },
];
