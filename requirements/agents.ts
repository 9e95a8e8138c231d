import type { Requirement } from './requirement.ts';

/** The rules of agents: code of agencies runs in its own process. */
export const agentsRequirements = [
  {
    id: 'agents-29-child-process',
    section: '29',
    quote:
      'All code of an agency folder runs in a child process of the server, one per loaded version of an agency that has code.',
  },
  {
    id: 'agents-29-in-process',
    section: '29',
    quote: "Agencies given in code to the embedding API or to the testing entry stay in their caller's process.",
  },
  {
    id: 'agents-29-agency-error',
    section: '29',
    quote:
      '`instructions` functions […] that throw fail the run (in a delegation: the call) with code `agency_error` and a sentence that names agency, agent and function, never `internal_error`; it is charged 0, like `internal_error`.',
  },
  {
    id: 'agents-29-agencies-process',
    section: '29',
    quote:
      '`/v2/agencies` items get `"process":{"state":"running|starting|failed|none","pid":1,"memoryBytes":1,"restarts":0,"lastFault":{"message":"…","tool":"refund","callId":"call_1","runId":"run_1","at":"…"}}`.',
  },
] as const satisfies readonly Requirement[];
