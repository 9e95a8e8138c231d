import { createOpenAI } from '@ai-sdk/openai';
import { Agent, Memory } from '@voltagent/core';
import { LibSQLMemoryAdapter } from '@voltagent/libsql';
import { readPeerSettings, serve } from '../bare-handler.ts';

/* An agent with memory in a file of libSQL, as in VoltAgent's guide. Nothing is sent to its cloud service. */

const { providerUrl, dataDir } = readPeerSettings();
const model = createOpenAI({ baseURL: providerUrl, apiKey: 'sk-1' }).chat('bench');
const storage = new LibSQLMemoryAdapter({ url: `file:${dataDir}/voltagent.db` });
const agent = new Agent({
  name: 'Clerk',
  instructions: 'Answer in one sentence.',
  model,
  memory: new Memory({ storage }),
});

serve(async (message, chatId, say) => {
  const { textStream } = await agent.streamText(message, { userId: 'member-1', conversationId: chatId });
  for await (const token of textStream) say(token);
});
