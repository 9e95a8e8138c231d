import { connect } from 'node:net';
import { defineAgency, defineAgent, defineTool } from '@runwire/agency';
import { onLines } from './lines.ts';

const gate = (name: string, repeatable: boolean) =>
  defineTool({
    name,
    description: 'Ends when the one who listens on the port says so.',
    inputSchema: { type: 'object', properties: { port: { type: 'integer' } }, required: ['port'] },
    repeatable,
    execute: (input, { callId, idempotencyKey, abortSignal }) =>
      new Promise<string>((resolve, reject) => {
        const socket = connect((input as { port: number }).port, '127.0.0.1');
        abortSignal.addEventListener('abort', () => socket.destroy());
        socket.on('error', reject);
        socket.on('close', () => reject(new Error('The gate was left.')));
        socket.write(`${JSON.stringify({ callId, idempotencyKey })}\n`);
        onLines(socket, (line) => {
          resolve(line);
          socket.end();
        });
      }),
  });

/** One agent whose calls of its tools are held, from outside the server's process, until somebody lets them go on. */
export const gateAgency = defineAgency({
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
