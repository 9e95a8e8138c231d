export { aiSdkModel, isAiSdkModel } from './ai-sdk-model.ts';
export { aiSdkProvider, ProviderRefused } from './ai-sdk-provider.ts';
