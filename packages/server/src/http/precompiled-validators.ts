import type { ValidateFunction } from 'ajv';

export interface PrecompiledValidators {
  /** False if a setting changed a schema after the build. */
  fits(namedSchemas: Readonly<Record<string, object>>): boolean;
  /** By the name of the part, see `partName`. */
  readonly validators: Readonly<Record<string, ValidateFunction>>;
}

/** The build puts the code of all validators in the place of this module. The sources compile them when they are used. */
export const precompiled: PrecompiledValidators | null = null as PrecompiledValidators | null;
