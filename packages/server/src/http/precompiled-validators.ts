import type { ValidateFunction } from 'ajv';

export interface PrecompiledValidators {
  /** The longest message that they accept. It is the only setting that changes a schema. */
  readonly messageCharacters: number;
  /** By the part's name, see `partName`. */
  readonly validators: Readonly<Record<string, ValidateFunction>>;
}

/** The build puts the code of all validators in this module's place. The sources compile them when they are used. */
export const precompiled: PrecompiledValidators | null = null as PrecompiledValidators | null;
