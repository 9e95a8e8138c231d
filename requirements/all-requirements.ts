import { agentsRequirements } from './agents.ts';
import { contractRequirements } from './contract.ts';
import type { Requirement } from './requirement.ts';
import { specRequirements } from './spec.ts';

export const allRequirements: readonly Requirement[] = [
  ...specRequirements,
  ...contractRequirements,
  ...agentsRequirements,
];

type ListedRequirement =
  | (typeof specRequirements)[number]
  | (typeof contractRequirements)[number]
  | (typeof agentsRequirements)[number];

/** Ids that a test may cite: a misspelt one, or one marked later, is already a type error. */
export type CitableId = Exclude<ListedRequirement, { readonly later: string }>['id'];
