import { createInterface } from 'node:readline';
import { type McpMessage, ScriptedMcp } from './scripted-mcp.ts';

/* The scripted MCP server as a program: `scripted-mcp-main.ts [--extra n] [--hostile] [--endless] [--silent] [--deaf]`. */

const [, , ...args] = process.argv;
const getNumber = (name: string) => Number(args[args.indexOf(name) + 1] ?? 0);
const script = new ScriptedMcp({
  extraTools: args.includes('--extra') ? getNumber('--extra') : 0,
  isHostile: args.includes('--hostile'),
  isEndless: args.includes('--endless'),
});
const write = (message: object) => process.stdout.write(`${JSON.stringify(message)}\n`);

if (args.includes('--deaf')) {
  // Survives everything but SIGKILL.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});
  setInterval(() => {}, 1000);
} else process.stdin.on('end', () => process.exit());

createInterface({ input: process.stdin }).on('line', (line) => {
  if (args.includes('--silent')) return;
  void script.receive(JSON.parse(line) as McpMessage, {
    send: write,
    notify: write,
    garbage: (text) => process.stdout.write(text),
    die: () => process.kill(process.pid, 'SIGKILL'),
    about: { pid: process.pid, cwd: process.cwd(), env: process.env },
  });
});
