import type { ToolCall } from '@runwire/agency';
import { compileJsonSchema } from '@runwire/lib/json-schema.ts';
import type { SandboxInfo, SandboxLimit } from '@runwire/sandbox';
import { checkedCall, type FileResult, type ModelTool, type Tool } from '../ports.ts';
import { changedFile, type Publication } from '../publication.ts';
import {
  type CommandOutput,
  type CommandReport,
  type OmittedEntry,
  type SANDBOX_TOOLS,
  WORKSPACE_LIMITS,
  type Workspace,
} from '../workspace-port.ts';
import { bytes, checkModelFilePath, checkModelFolderPath, inMount } from './model-path.ts';

interface WriteInput {
  readonly path: string;
  readonly content: string;
}

interface CommandInput {
  readonly command: string;
  readonly folder?: string;
  readonly timeout_seconds?: number;
}

type CommandCall = Pick<ToolCall, 'abortSignal' | 'progress'>;

interface Definition<Input> {
  readonly shown: ModelTool & { readonly name: (typeof SANDBOX_TOOLS)[number] };
  execute(workspace: Workspace, input: Input, call: CommandCall): Promise<string | FileResult>;
}

/** Characters of the text for the model, with the command's output. */
const RESULT_CHARACTERS = 40_000;
const SHOWN_FILES = 100;

const schema = (properties: Readonly<Record<string, object>>, required: readonly string[]) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

const writeFile: Definition<WriteInput> = {
  shown: {
    name: 'write_file',
    description: 'Writes one whole text file, at most 1 MiB. Replaces the file if it exists.',
    inputSchema: schema(
      {
        path: { type: 'string', description: 'Full path of the file: /app/mnt/…' },
        content: { type: 'string', description: 'The whole text of the file.' },
      },
      ['path', 'content'],
    ),
  },
  async execute(workspace, { path, content }) {
    const checked = inMount(checkModelFilePath(path));
    if ('problem' in checked) throw new Error(checked.problem);
    const text = Buffer.from(content);
    if (text.length > WORKSPACE_LIMITS.writtenBytes) {
      throw new Error(`\`content\` has ${bytes(text.length)}; at most 1 MiB can be written. Write several files.`);
    }
    const publication = await workspace.write(checked.below, text);
    if (publication === null) return `${path} has this content already.`;
    return { text: changedLines(publication).join('\n'), publication };
  },
};

/** What the tools must tell the model about this server's sandbox. */
export interface CommandSetting {
  readonly sandbox: Exclude<SandboxInfo['kind'], 'off'>;
  readonly defaultSeconds: number;
}

const RUNS_A_COMMAND =
  'Runs a command with bash in a folder of /app/mnt, without network, and returns its exit code, its output and the files that it changed. Only this folder can be changed, and only its files are kept; /app/agency can be read.';

/** What the model finds in each sandbox. */
const SANDBOXES: Readonly<Record<CommandSetting['sandbox'], string>> = {
  bubblewrap: 'The sandbox is bubblewrap: the command runs in a Linux container with the programs of the server.',
  exec: 'The sandbox is a container or virtual machine of the operator.',
  'just-bash':
    'The sandbox is just-bash, an interpreter of bash with its own versions of the common commands (grep, sed, awk, jq, sort, find, tar, gzip, cp and others; `help` lists them). No other programs can run: no python3, node or sqlite3, no compilers. There are no background jobs: `&` waits for its command. Links are not kept.',
};

const runCommand = ({ sandbox, defaultSeconds }: CommandSetting): Definition<CommandInput> => ({
  shown: {
    name: 'run_command',
    description: `${RUNS_A_COMMAND} ${SANDBOXES[sandbox]}`,
    inputSchema: schema(
      {
        command: { type: 'string', minLength: 1, description: 'Text for bash; it may have several lines.' },
        folder: {
          type: 'string',
          description: 'Full path of the folder to work in, without a slash at its end. It need not exist.',
        },
        timeout_seconds: {
          type: 'integer',
          minimum: 1,
          maximum: WORKSPACE_LIMITS.maxSeconds,
          description: `After this time the command is ended and changes nothing; ${defaultSeconds} if not given.`,
        },
      },
      ['command'],
    ),
  },
  async execute(workspace, input, { abortSignal, progress }) {
    const { command, folder, timeout_seconds: seconds = defaultSeconds } = input;
    const checked = folder === undefined ? null : inMount(checkModelFolderPath(folder));
    if (checked !== null && 'problem' in checked) throw new Error(checked.problem);
    if (Buffer.byteLength(command) > WORKSPACE_LIMITS.commandBytes || command.includes('\0')) {
      const most = bytes(WORKSPACE_LIMITS.commandBytes);
      throw new Error(`\`command\` must have at most ${most} and no NUL; write a file first, and run it.`);
    }
    const given = { command, folder: checked?.below ?? null, seconds };
    const report = await workspace.run(given, progress, abortSignal);
    const { end, publication } = report;
    if (end.end === 'aborted') throw new Error('The command was cancelled. No file was changed.');
    if (end.end === 'limit') throw new Error(reportText([LIMITS[end.limit](seconds)], report));
    const text = reportText([`Exit code ${end.exitCode}.`, ...changedLines(publication)], report);
    return publication === null ? text : { text, publication };
  },
});

const LIMITS: Readonly<Record<SandboxLimit | 'changes', (seconds: number) => string>> = {
  seconds: (seconds) => `The command was ended after ${seconds} s, its time limit. No file was changed.`,
  memory: () => 'The command was ended, because it used too much memory. No file was changed.',
  changes: () =>
    `The command changed more than ${WORKSPACE_LIMITS.files} files, which is too many for one command. No file was changed. ` +
    'Change fewer files in each command, or pack them into an archive.',
  folder: () => 'The command was ended, because its files are too many or too large. No file was changed.',
  disk: () => 'The command was ended, because the disk of the server is nearly full. No file was changed.',
  output: () => 'The command was ended, because it printed too much. No file was changed.',
  interpreter: () =>
    'The command was ended at a limit of the interpreter, which the output names. No file was changed.',
};

function changedLines(publication: Publication | null): string[] {
  if (publication === null) return ['No file was changed.'];
  const files = publication.changes.map(changedFile);
  const lines = files.slice(0, SHOWN_FILES).map(({ path, change, size }) => {
    return change === 'deleted' ? `${path}: deleted` : `${path}: ${change}, ${bytes(size)}`;
  });
  return [...lines, ...more(files.length)];
}

const more = (count: number) => (count > SHOWN_FILES ? [`[and ${count - SHOWN_FILES} more]`] : []);

function leftOutLines(leftOut: readonly OmittedEntry[]): string[] {
  if (leftOut.length === 0) return [];
  const lines = leftOut.slice(0, SHOWN_FILES).map(({ path, reason }) => `${path} ${reason}`);
  return ['These were not kept:', ...lines, ...more(leftOut.length)];
}

function reportText(lines: readonly string[], { output, leftOut }: CommandReport): string {
  const about = [...lines, ...leftOutLines(leftOut), 'Output:', ''].join('\n');
  return about + outputText(output, Math.max(1000, RESULT_CHARACTERS - about.length));
}

/** Leaves out the middle of a long output. */
function outputText({ head, tail, leftOutBytes }: CommandOutput, characters: number): string {
  const whole = head + tail;
  if (leftOutBytes === 0 && whole.length <= characters) return whole === '' ? '(none)' : whole;
  const note = '\n[… the middle of the output is left out …]\n';
  const half = Math.floor((characters - note.length) / 2);
  const start = (leftOutBytes === 0 ? whole : head).slice(0, half);
  const end = (leftOutBytes === 0 ? whole : tail).slice(-half);
  return `${start}${note}${end}`.toWellFormed();
}

function forWorkspaces<Input>({ shown, execute }: Definition<Input>): (workspace: Workspace) => Tool {
  const checkInput = compileJsonSchema(shown.inputSchema);
  return (workspace) => ({
    ...shown,
    // A command may have an effect on the files before its outcome is lost.
    repeatable: false,
    checkInput,
    call: checkedCall({ checkInput, execute: (input, call) => execute(workspace, input as Input, call) }),
  });
}

/** The tools that `SANDBOX_TOOLS` names. */
export interface CommandTools {
  /** As models get them. */
  readonly shown: readonly ModelTool[];
  open(workspace: Workspace): readonly Tool[];
}

export function commandTools(setting: CommandSetting): CommandTools {
  const run = runCommand(setting);
  const tools = [forWorkspaces(writeFile), forWorkspaces(run)];
  return { shown: [writeFile.shown, run.shown], open: (workspace) => tools.map((make) => make(workspace)) };
}
