import { connect } from 'node:net';
import { defineAgency, defineAgent, defineTool } from '@runwire/agency';
import { onLines } from '@runwire/server/testing';

const gate = (name: string, repeatable: boolean) =>
  defineTool({
    name,
    description: 'Ends when the listener on the port answers.',
    inputSchema: { type: 'object', properties: { port: { type: 'integer' } }, required: ['port'] },
    repeatable,
    execute: (input, { callId, idempotencyKey, abortSignal }) =>
      new Promise<string>((resolve, reject) => {
        const socket = connect((input as { port: number }).port, '127.0.0.1');
        abortSignal.addEventListener('abort', () => socket.destroy());
        socket.on('error', reject);
        socket.on('close', () => reject(new Error('The controller closed the connection.')));
        socket.write(`${JSON.stringify({ callId, idempotencyKey })}\n`);
        onLines(socket, (line) => {
          resolve(line);
          socket.end();
        });
      }),
  });

/** One agent whose tool calls wait until a `ToolController`, in the process of the test, lets them end. */
export const heldToolAgency = defineAgency({
  name: 'Gate',
  agents: [
    defineAgent({
      name: 'Porter',
      description: 'Waits.',
      instructions: 'Use your gate.',
      files: false,
      tools: [gate('gate', false), gate('gate_again', true)],
    }),
  ],
});
