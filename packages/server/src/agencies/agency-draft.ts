import type { ModelObject } from '@runwire/agency';
import type { AgencyFile, AgentFile } from '@runwire/contract/schemas';
import type { Path, Place } from './fault.ts';
import type { AboutRun } from './loaded-agency.ts';

/** An agent in the shape of `agency.yaml`, and where it was written. */
export interface AgentDraft {
  readonly value: AgentFile;
  readonly place: Place;
  /** The path of the agent in `place`. */
  readonly path: Path;
  readonly code: AgentCode;
}

/** What an agent has that YAML cannot express. */
export interface AgentCode {
  /** If present, `value.instructions` does not count. */
  readonly instructions?: (about: AboutRun) => string | Promise<string>;
  /** Tools by their names in `value.tools`. */
  readonly tools: ReadonlyMap<string, object>;
  /** If present, `value.output` does not count. */
  readonly output?: object;
  /** Models that are given as objects, by their names in `value`. */
  readonly models: ModelObjects;
}

export type ModelObjects = ReadonlyMap<string, ModelObject>;

/** An agency of any form, whose shape was checked. */
export interface AgencyDraft {
  readonly source: 'bundled' | 'yaml' | 'markdown' | 'typescript';
  readonly value: AgencyFile;
  readonly place: Place;
  readonly agents: readonly AgentDraft[];
  /** The models of the agency that are given as objects, by their names in `value`. */
  readonly models: ModelObjects;
}

export const NO_CODE: AgentCode = { tools: new Map(), models: new Map() };
