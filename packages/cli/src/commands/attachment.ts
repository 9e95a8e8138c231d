import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { CliCommand, Context } from '../command.ts';
import { connectToIntegration, type IntegrationOptions } from '../connection.ts';
import { printBytes, printJson } from '../output.ts';

interface AttachmentOptions extends IntegrationOptions {
  readonly output?: string;
  readonly json?: true;
}

export function addAttachmentCommand(program: CliCommand, { env }: Context): void {
  program
    .command('attachment')
    .explain({
      summary: 'print an image that a tool of a run returned, or save it',
      details: ['`runwire steps --json` lists the images of each step as `attachments`.'],
      examples: [
        'runwire attachment run_01HZX3 att_01HZX4 --output chart.png',
        "runwire steps --json run_01HZX3 | jq '.[].attachments[]'",
      ],
    })
    .argument('RUN_ID')
    .argument('ATTACHMENT_ID')
    .option('-o, --output <FILE>', 'write to this file; default: standard output')
    .printsJson('print {"attachmentId", "mediaType", "size"} as JSON, without the image')
    .asksIntegration()
    .action(async (runId: string, attachmentId: string, { output, json, ...options }: AttachmentOptions) => {
      const client = await connectToIntegration(env, options);
      const { body, headers } = await client.runs.attachment({ runId, attachmentId });
      if (body === null) return;
      if (json) {
        await body.cancel();
        const size = Number(headers.get('content-length'));
        printJson({ attachmentId, mediaType: headers.get('content-type'), size });
        return;
      }
      if (output === undefined) await printBytes(body);
      else await pipeline(Readable.fromWeb(body), createWriteStream(output));
    });
}
