import { fileURLToPath } from 'node:url';
import type { FakeProvider, Protocol } from '@runwire/test-kit';
import { PLANTED_KEY } from '@runwire/test-kit/fake-provider.ts';
import type { AgenciesFolder } from './agencies-folder.ts';

/** What the sentences about a provider call its settings. */
interface SettingNames {
  readonly KEY: string;
  readonly BASE_URL: string;
  readonly ADDRESS: string;
  /** Ends the sentence about an address that was not found. */
  readonly OTHER_API: string;
}

/** One of our adapters, as a server's settings select it. */
export interface AdapterUnderTest {
  readonly name: string;
  /** The protocol that the provider speaks. */
  readonly protocol: Protocol;
  readonly settings: SettingNames;
  /** True if the adapter sees when the provider accepts the call: then the prompt is charged. */
  readonly seesHead: boolean;
  /** True if the adapter passes on the input that a provider reports at the start of its answer. */
  readonly reportsStart: boolean;
  /** The environment of a server that asks this provider. The folder is deleted at the end. */
  readonly env: (provider: FakeProvider, folder: AgenciesFolder) => Readonly<Record<string, string>>;
}

const OPENAI = {
  KEY: 'OPENAI_API_KEY',
  BASE_URL: 'OPENAI_BASE_URL',
  ADDRESS: 'OPENAI_BASE_URL and RUNWIRE_OPENAI_API',
  OTHER_API: '',
};
const RESPONSES = {
  ...OPENAI,
  OTHER_API: ' If the server has no Responses API, like vLLM and Ollama, set RUNWIRE_OPENAI_API=chat\\.',
};
const ANTHROPIC = {
  KEY: 'ANTHROPIC_API_KEY',
  BASE_URL: 'ANTHROPIC_BASE_URL',
  ADDRESS: 'ANTHROPIC_BASE_URL',
  OTHER_API: '',
};
const PACKAGE_PATH = 'node_modules/@ai-sdk/anthropic';
const SDK_MODEL = 'sdk/some-model';
const SDK = {
  KEY: `the key of the provider of ${SDK_MODEL}`,
  BASE_URL: `the address of the provider of ${SDK_MODEL}`,
  ADDRESS: `the address of the provider of ${SDK_MODEL}`,
  OTHER_API: '',
};

/** `providers.yaml` with the provider `sdk`, a package of the AI SDK. `models` is YAML. */
export function aiSdkProviders(baseUrl: string, models = '{}'): string {
  const options = `{ baseURL: "${baseUrl}", apiKey: ${PLANTED_KEY} }`;
  return `sdk: { package: "@ai-sdk/anthropic", options: ${options}, models: ${models} }\n`;
}

/** Packages of the AI SDK are loaded from the folder of `providers.yaml`. */
export function linkAiSdk(folder: AgenciesFolder): void {
  folder.link(PACKAGE_PATH, fileURLToPath(new URL(`../../${PACKAGE_PATH}`, import.meta.url)));
}

function aiSdkEnvironment({ baseUrl }: FakeProvider, folder: AgenciesFolder): Readonly<Record<string, string>> {
  linkAiSdk(folder);
  folder.write({ 'providers.yaml': aiSdkProviders(baseUrl) });
  return { RUNWIRE_AGENCIES_DIR: folder.path, RUNWIRE_MODEL: SDK_MODEL };
}

export const ADAPTERS: readonly AdapterUnderTest[] = [
  {
    name: 'responses',
    protocol: 'responses',
    settings: RESPONSES,
    seesHead: true,
    reportsStart: false,
    env: (provider) => provider.env('responses'),
  },
  {
    name: 'chat',
    protocol: 'chat',
    settings: OPENAI,
    seesHead: true,
    reportsStart: false,
    env: (provider) => provider.env('chat'),
  },
  {
    name: 'messages',
    protocol: 'messages',
    settings: ANTHROPIC,
    seesHead: true,
    reportsStart: true,
    env: (provider) => provider.env('messages'),
  },
  { name: 'AI SDK', protocol: 'messages', settings: SDK, seesHead: false, reportsStart: false, env: aiSdkEnvironment },
];
