export type {
  InputUsage,
  Model,
  ModelOutput,
  ModelRequest,
  ModelResult,
  ModelTool,
  PromptItem,
  Replay,
  Room,
  StepReplay,
  Tries,
} from './model.ts';
export { type FailureOptions, ModelFailure, type ModelProblem } from './model-failure.ts';
export { isTooDeep, TOO_DEEP } from './model-json.ts';
export type { ImageDetail, PromptAttachment, PromptImage } from './prompt-attachment.ts';
export { promptBytes } from './prompt-bytes.ts';
export {
  chosenApi,
  type ModelTraits,
  OFFLINE_MODEL,
  OFFLINE_PROVIDER,
  PACKAGES,
  PROVIDERS,
  type ProviderApi,
  type ProviderSettingNames,
  providerSettingNames,
  splitModelId,
} from './providers.ts';
export { type SandboxFile, shownMessage } from './shown-message.ts';
export { takesTemperature } from './takes-temperature.ts';
export { addUsage, BYTES_A_TOKEN, estimateTokens, IMAGE_TEXT_BYTES, NO_USAGE, type Usage } from './usage.ts';
