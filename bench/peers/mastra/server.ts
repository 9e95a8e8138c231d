import { createOpenAI } from '@ai-sdk/openai';
import { Mastra } from '@mastra/core';
import { Agent } from '@mastra/core/agent';
import { LibSQLStore } from '@mastra/libsql';
import { Memory } from '@mastra/memory';
import { readPeerSettings, serve } from '../bare-handler.ts';

/* An agent with memory in a file of libSQL, as in Mastra's guide, with the thread's last messages as its history. */

const { providerUrl, dataDir } = readPeerSettings();
const model = createOpenAI({ baseURL: providerUrl, apiKey: 'sk-1' }).chat('bench');
const storage = new LibSQLStore({ id: 'bench', url: `file:${dataDir}/mastra.db` });
const clerk = new Agent({
  id: 'clerk',
  name: 'Clerk',
  instructions: 'Answer in one sentence.',
  model,
  memory: new Memory({ storage }),
});
const agent = new Mastra({ agents: { clerk }, storage, logger: false }).getAgent('clerk');

serve(async (message, chatId, say) => {
  const { textStream } = await agent.stream(message, { memory: { thread: chatId, resource: 'member-1' } });
  for await (const token of textStream) say(token);
});
