import type { ModelUsage } from '../domain/model/usage.ts';

/** Reads the column `by_model_json`. */
export const readModels = (json: string): ModelUsage[] => JSON.parse(json) as ModelUsage[];
