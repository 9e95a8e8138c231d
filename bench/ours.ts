import { compose } from '../packages/server/src/compose.ts';
import { readConfig } from '../packages/server/src/config/read-config.ts';
import { benchModel } from './model.ts';
import { announce, readSettings } from './server-process.ts';

/** Our server as it is, with its default limits; only the model is the benchmark's. */
const { config, secrets } = readConfig({ PORT: '0', RUNWIRE_DATA_DIR: readSettings().dataDir });
const onFatal = (error: unknown) => {
  throw error;
};
const server = await compose(config, secrets, onFatal, { model: benchModel });
announce({ port: Number(new URL(server.url).port), apiKey: server.apiKey });
