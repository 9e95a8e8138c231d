import { defineAgency, defineAgent, defineTool } from '@runwire/agency';
import { keepOptimisedCode } from '@runwire/lib/keep-optimised-code.ts';
import { compose } from '../packages/server/src/compose/compose.ts';
import { readConfig } from '../packages/server/src/config/read-config.ts';
import { benchModel, NOTE } from './model.ts';
import { announce, readSettings } from './server-process.ts';

const note = defineTool({
  name: NOTE.name,
  description: 'Notes a text.',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  execute: () => NOTE.output,
});
const scribe = defineAgent({
  name: 'Scribe',
  description: 'Notes.',
  instructions: 'Note it.',
  files: false,
  tools: [note],
});
const clerk = defineAgent({
  name: 'Clerk',
  description: 'Answers questions.',
  instructions: 'Answer in one sentence.',
  tools: [note],
});
const agencies = {
  tools: defineAgency({ name: 'Tools', agents: [scribe] }),
  plain: defineAgency({ name: 'Plain', agents: [clerk] }),
};

/** Our unchanged server with its default limits. Only the model, or its provider, and a tool belong to the benchmark. */
const { dataDir, providerPort, protocol, searchMs, databaseUrl, webhookPort, collectorPort } = readSettings();
const baseUrl = `http://127.0.0.1:${providerPort}/v1`;
const provider =
  providerPort === null
    ? {}
    : protocol === 'messages'
      ? { RUNWIRE_MODEL: 'anthropic/bench', ANTHROPIC_BASE_URL: baseUrl, ANTHROPIC_API_KEY: 'sk-1' }
      : { RUNWIRE_MODEL: 'openai/bench', OPENAI_BASE_URL: baseUrl, OPENAI_API_KEY: 'sk-1' };
const database = databaseUrl === null ? {} : { DATABASE_URL: databaseUrl };
const webhooks = webhookPort === null ? {} : { RUNWIRE_WEBHOOK_ALLOW: `127.0.0.1:${webhookPort}` };
const traces = collectorPort === null ? {} : { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collectorPort}` };
const variables = { ...database, ...provider, ...webhooks, ...traces };
const { config, secrets } = readConfig({ PORT: '0', RUNWIRE_DATA_DIR: dataDir, ...variables });
// As in `main.ts`: without it the phases after a pause of 14 s would measure another server.
keepOptimisedCode();
const onFatal = (error: unknown) => {
  throw error;
};
const server = await compose(config, secrets, onFatal, {
  agencies,
  ...(searchMs === null ? {} : { limits: { searchMs } }),
  ...(providerPort === null ? { model: benchModel } : {}),
});
announce({ port: Number(new URL(server.url).port), apiKey: server.apiKey });
