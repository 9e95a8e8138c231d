import type { ModelObject } from '@runwire/agency';
import type { AgencyFile, AgentFile } from '@runwire/contract/schemas';
import type { Tool } from '../agent/ports.ts';
import type { Location, Path } from './fault.ts';
import type { ConditionParts } from './load-condition.ts';
import type { GuardrailParts } from './load-guardrail.ts';
import type { AboutRun, OutputSchema } from './loaded-agency.ts';
import type { RefusedCode } from './refused-code.ts';

/** An agent in the shape of `agency.yaml`, and where it was written. */
export interface AgentDraft<Code = AgentCode> {
  readonly value: AgentFile;
  readonly location: Location;
  /** The agent's path in `location`. */
  readonly path: Path;
  readonly code: Code;
}

/** What an agent has that YAML cannot express. Its functions may run in another process. */
export interface AgentCode {
  /** If present, `value.instructions` does not count. */
  readonly instructions?: (about: AboutRun) => string | Promise<string>;
  /** Tools by their names in `value.tools`. */
  readonly tools: ReadonlyMap<string, Tool | RefusedCode>;
  /** If present, `value.output` does not count. */
  readonly output?: OutputSchema | RefusedCode;
  /** Models that are given as objects, by their names in `value`. */
  readonly models: ModelObjects;
}

/** The same as its author wrote it. */
export interface WrittenCode extends Pick<AgentCode, 'instructions' | 'models'> {
  readonly tools: ReadonlyMap<string, object>;
  readonly output?: object;
}

export type ModelObjects = ReadonlyMap<string, ModelObject>;

/** An agency of any form, whose shape was checked. */
export interface AgencyDraft<Code = AgentCode> {
  readonly source: 'bundled' | 'yaml' | 'markdown' | 'typescript';
  readonly value: AgencyFile;
  readonly location: Location;
  readonly agents: readonly AgentDraft<Code>[];
  /** The models of the agency that are given as objects, by their names in `value`. */
  readonly models: ModelObjects;
  /** The guardrails that the agency and its agents have as objects. Empty if they are in `toolFiles`. */
  readonly guardrails: GuardrailParts;
  /** The functions that flows have. Empty if they are in `toolFiles`. */
  readonly conditions: ConditionParts;
}

export const NO_CODE: AgentCode = { tools: new Map(), models: new Map() };
