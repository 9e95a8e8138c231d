import { connect } from 'node:net';
import type { PromptAttachment } from '@runwire/models';
import type { Model, ModelResult, PromptItem } from '../agent/ports.ts';
import { RunFailure } from '../domain/run/run-failure.ts';
import type { RunErrorCode } from '../domain/run/run-state.ts';
import { onLines } from './lines.ts';
import type { ModelLine } from './model-controller.ts';

/** A model whose events come from a `ModelController`, possibly in another process. */
export function scriptedModel(controllerPort: number, options: Pick<Model, 'takesPdf'> = {}): Model {
  return {
    id: 'scripted/model',
    ...options,
    call(request, output, signal) {
      return new Promise<ModelResult>((resolve, reject) => {
        const socket = connect(controllerPort, '127.0.0.1');
        const finish = (settle: () => void) => {
          signal.removeEventListener('abort', abort);
          socket.destroy();
          settle();
        };
        const abort = () => finish(() => reject(signal.reason));
        signal.addEventListener('abort', abort);
        socket.on('error', (error) => finish(() => reject(new RunFailure('model_error', error.message))));
        socket.on('close', () =>
          finish(() => reject(new RunFailure('model_error', 'The controller closed the connection.'))),
        );
        const { tools, prompt, ...rest } = request;
        const toolList = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
        const connected = new Promise<void>((resolve) => socket.once('connect', resolve));
        const ask = async () => {
          const shown = await shownPrompt(prompt);
          await connected;
          // Checked as late as possible: the process may have stalled since the call began.
          await request.mayCall?.();
          socket.write(`${JSON.stringify({ ...rest, prompt: shown, tools: toolList })}\n`);
        };
        ask().catch((error: unknown) => finish(() => reject(error)));
        onLines(socket, (text) => {
          if (signal.aborted) return;
          const line = JSON.parse(text) as ModelLine;
          switch (line[0]) {
            case 'text':
              return output.text(line[1]);
            case 'reasoning':
              return output.reasoning(line[1]);
            case 'tool':
              return output.toolCall(line[1], line[2], line[3]);
            case 'end':
              return finish(() => resolve({ usage: line[1] }));
            case 'fail':
              return finish(() => reject(new RunFailure(line[1] as RunErrorCode, line[2])));
          }
        });
      });
    },
  };
}

type Kind<K extends PromptAttachment['kind']> = Extract<PromptAttachment, { kind: K }>;

/** An attachment as the controller receives it. */
export type ShownAttachment = Kind<'text'> | (Omit<Kind<'image'> | Kind<'pdf'>, 'read'> & { readonly base64: string });

/** An image as the controller receives it. */
export type ShownImage = Omit<Kind<'image'>, 'read'> & { readonly base64: string };

/** Returns the prompt with its attachments' bytes, read one after the other as the adapters of providers do. */
async function shownPrompt(prompt: readonly PromptItem[]): Promise<unknown[]> {
  const shown: unknown[] = [];
  for (const item of prompt) {
    if (item.kind === 'user' && item.attachments !== undefined) {
      shown.push({ ...item, attachments: await readAll(item.attachments) });
    } else if (item.kind === 'tool_output' && item.images !== undefined) {
      shown.push({ ...item, images: await readAll(item.images) });
    } else shown.push(item);
  }
  return shown;
}

async function readAll(attachments: readonly PromptAttachment[]): Promise<ShownAttachment[]> {
  const shown: ShownAttachment[] = [];
  for (const one of attachments) {
    if (one.kind === 'text') shown.push(one);
    else {
      const { read, ...about } = one;
      shown.push({ ...about, base64: Buffer.from(await read()).toString('base64') });
    }
  }
  return shown;
}
