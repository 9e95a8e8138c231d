import { Agent, run, setDefaultOpenAIClient, setOpenAIAPI, setTracingDisabled } from '@openai/agents';
import OpenAI from 'openai';
import { readPeerSettings, serve } from '../bare-handler.ts';

/* The agent loop alone: the package stores nothing by itself, so its cost is a lower bound. */

const { providerUrl } = readPeerSettings();
setDefaultOpenAIClient(new OpenAI({ baseURL: providerUrl, apiKey: 'sk-1' }));
setOpenAIAPI('chat_completions');
setTracingDisabled(true);
const agent = new Agent({ name: 'Clerk', instructions: 'Answer in one sentence.', model: 'bench' });

serve(async (message, _chatId, say) => {
  const stream = await run(agent, message, { stream: true });
  for await (const token of stream.toTextStream()) say(token);
  await stream.completed;
});
