import { type OpenAiConfig, SettingRefused } from './config.ts';
import type { ReadSetting } from './read-network.ts';

export const OFFLINE_MODEL = 'offline/demo';
/** Used if only a key is set: a cheap current model of OpenAI that every account may use. */
export const DEFAULT_OPENAI_MODEL = 'openai/gpt-5-mini';
const OPENAI_BASE_URL = 'https://api.openai.com/v1';
const OPENAI_APIS = ['responses', 'chat'] as const;

export interface ModelSettings {
  readonly model: string;
  readonly openAi: OpenAiConfig | null;
  readonly openAiKey: string | null;
}

/** Reads the default model and the provider. */
export function readModels(read: ReadSetting, baseUrl: string | null): ModelSettings {
  const openAiKey = readOpenAiKey(read);
  const api = readOpenAiApi(read);
  // A self-hosted server may need no key.
  const isSetUp = openAiKey !== null || baseUrl !== null;
  const model = readModel(read) ?? (openAiKey === null ? OFFLINE_MODEL : DEFAULT_OPENAI_MODEL);
  if (model !== OFFLINE_MODEL && !isSetUp) {
    throw new SettingRefused(
      `RUNWIRE_MODEL is \`${model}\` but its key is missing; set OPENAI_API_KEY, or set OPENAI_BASE_URL to a server that needs no key.`,
    );
  }
  if (api !== null && !isSetUp) {
    throw new SettingRefused(
      'RUNWIRE_OPENAI_API is set but neither OPENAI_API_KEY nor OPENAI_BASE_URL is; set one of them, or unset it.',
    );
  }
  const openAi = isSetUp ? Object.freeze({ baseUrl: baseUrl ?? OPENAI_BASE_URL, api: api ?? OPENAI_APIS[0] }) : null;
  return { model, openAi, openAiKey };
}

function readModel(read: ReadSetting): string | null {
  const text = read('RUNWIRE_MODEL');
  if (text === null || text === OFFLINE_MODEL || /^openai\/[\x21-\x7e]+$/.test(text)) return text;
  throw new SettingRefused(
    `RUNWIRE_MODEL is \`${text}\`; set it to openai/ and the name of a model, such as ${DEFAULT_OPENAI_MODEL}, or to ${OFFLINE_MODEL}.`,
  );
}

function readOpenAiKey(read: ReadSetting): string | null {
  const key = read('OPENAI_API_KEY');
  if (key !== null && !/^[\x21-\x7e]+$/.test(key)) {
    throw new SettingRefused('OPENAI_API_KEY must contain only visible ASCII characters; check for spaces around it.');
  }
  return key;
}

function readOpenAiApi(read: ReadSetting): OpenAiConfig['api'] | null {
  const text = read('RUNWIRE_OPENAI_API');
  if (text === null) return null;
  const api = OPENAI_APIS.find((known) => known === text);
  if (api === undefined) throw new SettingRefused(`RUNWIRE_OPENAI_API must be one of ${OPENAI_APIS.join(', ')}.`);
  return api;
}
