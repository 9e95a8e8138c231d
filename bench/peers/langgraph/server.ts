import { MemorySaver } from '@langchain/langgraph';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { ChatOpenAI } from '@langchain/openai';
import { readPeerSettings, serve } from '../bare-handler.ts';

/*
 * An agent with a checkpoint after each step. The checkpoints are in memory: the package that stores them in SQLite has
 * to be compiled. So this peer stores nothing, and its cost is a lower bound.
 */

const { providerUrl } = readPeerSettings();
const llm = new ChatOpenAI({ model: 'bench', apiKey: 'sk-1', configuration: { baseURL: providerUrl } });
const agent = createReactAgent({
  llm,
  tools: [],
  prompt: 'Answer in one sentence.',
  checkpointer: new MemorySaver(),
});

serve(async (message, chatId, say) => {
  const messages = [{ role: 'user', content: message }];
  const options = { streamMode: 'messages', configurable: { thread_id: chatId } } as const;
  for await (const [piece] of await agent.stream({ messages }, options)) {
    if (piece.text !== '') say(piece.text);
  }
});
