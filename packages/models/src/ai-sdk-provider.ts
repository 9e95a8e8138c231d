import { aiSdkModel, isAiSdkModel } from './ai-sdk-model.ts';
import type { Model } from './model.ts';
import { isObject, quoted } from './provider-failure.ts';
import type { ModelTraits } from './providers.ts';

/** The package gives no models that can be called. The message is a sentence for the operator. */
export class ProviderRefused extends Error {
  override readonly name = 'ProviderRefused';
}

export interface AiSdkPackage {
  /** The first part of the ids of its models. */
  readonly name: string;
  readonly package: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly models: ReadonlyMap<string, ModelTraits>;
  /** How long a model may send nothing. */
  readonly silenceMs: number;
}

type Exports = Readonly<Record<string, unknown>>;
type Call = (argument: unknown) => unknown;

/** Makes the models of a provider package of the AI SDK. Throws `ProviderRefused`. */
export function aiSdkProvider(exports: Exports, about: AiSdkPackage): (id: string) => Model {
  const { name, package: packageName, options, models, silenceMs } = about;
  const create = factoryIn(exports, packageName);
  if (create === null) {
    throw new ProviderRefused(
      `The package \`${packageName}\` exports no \`create…\` function; name a provider package.`,
    );
  }
  const secrets = textsIn(options);
  const provider = attempt(about, secrets, () => create(options));
  const made = new Map<string, Model>();
  return (id) => {
    let model = made.get(id);
    if (model === undefined) {
      const modelId = id.slice(name.length + 1);
      const given = attempt(about, secrets, () => languageModel(provider, modelId));
      if (!isAiSdkModel(given)) {
        const version = isObject(given) ? String(given.specificationVersion) : 'none';
        throw new ProviderRefused(
          `The package \`${packageName}\` makes models of specification \`${version}\`; install a version that makes v3 or v4.`,
        );
      }
      model = aiSdkModel(id, given, silenceMs, models.get(modelId), secrets);
      made.set(id, model);
    }
    return model;
  };
}

/** Returns the `create…` function whose name is nearest to that of the package. */
function factoryIn(exports: Exports, packageName: string): Call | null {
  const plain = packageName.slice(packageName.lastIndexOf('/') + 1).replaceAll(/[^a-z0-9]/g, '');
  const found = Object.entries(exports).filter(
    ([name, value]) => /^create[A-Z]/.test(name) && typeof value === 'function',
  );
  const isNear = ([name]: readonly [string, unknown]) => {
    const made = name.slice('create'.length).toLowerCase();
    return made.startsWith(plain) || plain.startsWith(made);
  };
  const nearest = found.find(isNear) ?? found[0];
  return nearest === undefined ? null : (nearest[1] as Call);
}

function languageModel(provider: unknown, modelId: string): unknown {
  const { languageModel: make } = (provider ?? {}) as { readonly languageModel?: unknown };
  if (typeof make === 'function') return (make as Call).call(provider, modelId);
  return typeof provider === 'function' ? (provider as Call)(modelId) : null;
}

/** Every text of the options: the server does not know which ones are secret. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

function attempt<T>({ package: name }: AiSdkPackage, secrets: readonly string[], job: () => T): T {
  try {
    return job();
  } catch (error) {
    const reason = quoted({ apiKey: null, secrets }, error instanceof Error ? error.message : String(error));
    throw new ProviderRefused(`The package \`${name}\` refused its options${reason}.`);
  }
}
