import type { RunId } from '../domain/ids.ts';

/** A step's columns. */
interface StepColumns {
  run_id: RunId;
  step: number;
  attempt: number;
  /** The call id of the `send_message` that began the loop; empty for the root loop. */
  loop: string;
  /** 1, 2, 3 … for the loop's model steps; 0 for other steps. */
  index_in_loop: number;
  agent: string;
  caller_agent: string | null;
  model: string | null;
  /** The called tool. A step of an imported turn has the names of all its calls, with spaces between. */
  tool: string | null;
  call_id: string | null;
  first_event_id: number;
  last_event_id: number;
  record_json: string;
  started_at: number;
  completed_at: number;
}

/** The journal of finished steps. A resumed run continues from them and does not repeat them. */
export interface StepsTable extends StepColumns {
  kind: 'model' | 'tool' | 'begin' | 'guardrail' | 'summary';
  status: 'completed' | 'failed';
}

/** Calls that gave no result, see `UnfinishedStep`. Only `GET …/steps` reads them. */
export interface UnfinishedStepsTable extends StepColumns {
  kind: 'model' | 'tool' | 'guardrail' | 'summary';
  status: 'failed' | 'cancelled' | 'waiting';
}

/** What an agency's version told its models, without its code. It shows prompts after the version was replaced. */
export interface AgencyDefinitionsTable {
  agency: string;
  /** As `runs.agency_version`. */
  version: string;
  definition_json: string;
  /** When a node that had the version loaded wrote this last, in milliseconds since 1970. */
  seen_at: number;
  /** A run that has the version and whose chat exists; before one is found, the last run that was examined. */
  run_id: RunId | null;
}
