import { createWriteStream, openAsBlob } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { SandboxFile } from '@runwire/client';
import { type CliCommand, type Context, wholeNumber } from '../command.ts';
import { connectToIntegration, type IntegrationOptions } from '../connection.ts';
import { getContentType } from '../content-type.ts';
import { UsageError } from '../exit-codes.ts';
import { bytes, type ListOptions, note, print, printBytes, printJson, printList, time } from '../output.ts';
import { ProgressBar } from '../progress-bar.ts';

interface UploadOptions extends IntegrationOptions {
  readonly folder: string;
  readonly name?: string;
  readonly type?: string;
  readonly json?: true;
}

interface DeleteOptions extends IntegrationOptions {
  readonly recursive?: true;
  readonly json?: true;
}

const DEFAULT_FOLDER = '/app/mnt/uploads';

export function addFileCommands(program: CliCommand, context: Context): void {
  addUploadCommand(program, context);
  const files = program.command('files').explain({ summary: 'the files of an integration' });
  addListCommand(files, context);
  addGetCommand(files, context);
  addDeleteCommand(files, context);
}

function addUploadCommand(program: CliCommand, { env }: Context): void {
  program
    .command('upload')
    .explain({
      summary: 'upload files that agents can read',
      details: ['It prints the path of each file, for --file of `runwire run`.'],
      examples: [
        'runwire upload report.pdf --folder /app/mnt/members/user-42',
        'runwire upload *.csv --folder /app/mnt/data',
      ],
    })
    .argument('<FILE...>')
    .option('--folder <PATH>', `a folder below /app/mnt; default: ${DEFAULT_FOLDER}`, DEFAULT_FOLDER)
    .option('--name <NAME>', 'another name, if there is one file')
    .option('--type <TYPE>', "the content type; default: by the file's name")
    .printsJson('print the files as a JSON array of {"name", "path"}, as `sandboxFiles` takes it')
    .asksIntegration()
    .action(async (paths: readonly string[], { folder, name, type, json, ...options }: UploadOptions) => {
      if (name !== undefined && paths.length > 1)
        throw new UsageError('--name is for one file; name one, or leave it out.');
      for (const path of paths) await checkFile(path);
      const client = await connectToIntegration(env, options);
      const uploaded: SandboxFile[] = [];
      for (const path of paths) {
        using bar = new ProgressBar(basename(path));
        const blob = await openAsBlob(path, { type: type ?? getContentType(path) });
        const onProgress = ({ loadedBytes, totalBytes }: { loadedBytes: number; totalBytes: number }) =>
          bar.show(loadedBytes, totalBytes);
        const file = await client.upload(blob, { folder, name: name ?? basename(path), onProgress });
        uploaded.push(file);
      }
      if (json) printJson(uploaded);
      else for (const { path } of uploaded) print(path);
    });
}

async function checkFile(path: string): Promise<void> {
  const found = await stat(path).catch(() => null);
  if (found === null) throw new UsageError(`There is no file ${path}.`);
  if (!found.isFile()) throw new UsageError(`${path} is not a file; name files, one after the other.`);
}

function addListCommand(files: CliCommand, { env }: Context): void {
  files
    .command('list')
    .explain({
      summary: 'list a folder',
      examples: ['runwire files list', 'runwire files list /app/mnt/members/user-42'],
    })
    .argument('[FOLDER]')
    .option('--limit <N>', 'at most this many files; default: 100', wholeNumber, 100)
    .printsJson('print the files as a JSON array')
    .asksIntegration()
    .action(async (folder: string | undefined, options: ListOptions & IntegrationOptions) => {
      const client = await connectToIntegration(env, options);
      await printList(client.files.list({ folder }), options, [
        { title: 'path', value: ({ path, kind }) => (kind === 'folder' ? `${path}/` : path) },
        { title: 'size', value: ({ size }) => bytes(size) },
        { title: 'modified', value: ({ modifiedAt }) => time(modifiedAt) },
        { title: 'type', value: ({ contentType }) => contentType, canShrink: true },
      ]);
    });
}

function addGetCommand(files: CliCommand, { env }: Context): void {
  files
    .command('get')
    .explain({
      summary: 'print a file, or save it',
      examples: ['runwire files get /app/mnt/reports/q3.md', 'runwire files get /app/mnt/q3.pdf --output q3.pdf'],
    })
    .argument('PATH')
    .option('-o, --output <FILE>', 'write to this file; default: standard output')
    .printsJson('print {"path", "contentType", "size"} as JSON, without the content')
    .asksIntegration()
    .action(async (path: string, options: IntegrationOptions & { output?: string; json?: true }) => {
      const client = await connectToIntegration(env, options);
      if (options.json) {
        const { headers } = await client.files.head({ path });
        const contentType = headers.get('content-type');
        return printJson({ path, contentType, size: Number(headers.get('content-length')) });
      }
      const { body } = await client.files.content({ path });
      if (body === null) return;
      if (options.output === undefined) await printBytes(body);
      else await pipeline(Readable.fromWeb(body), createWriteStream(options.output));
    });
}

function addDeleteCommand(files: CliCommand, { env }: Context): void {
  files
    .command('delete')
    .explain({
      summary: 'delete a file or a folder',
      examples: ['runwire files delete /app/mnt/old.txt', 'runwire files delete --recursive /app/mnt/members/user-42'],
    })
    .argument('PATH')
    .option('-r, --recursive', 'delete a folder with its content')
    .printsJson('print {"deleted"} as JSON')
    .asksIntegration()
    .action(async (path: string, { recursive, json, ...options }: DeleteOptions) => {
      const client = await connectToIntegration(env, options);
      await client.files.delete({ path, recursive });
      if (json) printJson({ deleted: path });
      else note(`${path} is deleted.`);
    });
}
