/** The rules of agents. */
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
    id: 'agents-29-rejection',
    section: '29',
    quote:
      'A rejected promise that nobody handles is logged with agency, tool, call and run, and counted; nothing else happens.',
  },
  {
    id: 'agents-29-fault',
    section: '29',
    quote:
      'An uncaught exception, an exit, a crash, […] or 30 s without an answer of its event loop ends the process, not the server: open calls end as after a crash (repeatable: once more; otherwise the outcome is unknown).',
  },
  { id: 'agents-29-memory', section: '29', quote: 'too much memory (`RUNWIRE_AGENCY_MEMORY_MIB`, default 512)' },
  { id: 'agents-29-memory-counts', section: '29', quote: 'The limit of memory counts heap and buffers.' },
  {
    id: 'agents-29-ended-twice',
    section: '29',
    quote:
      'A call that ended two processes is not made again; it fails with a sentence that names agency, tool and file.',
  },
  {
    id: 'agents-29-group',
    section: '29',
    quote: 'The process has a group of its own: what its tools started ends with it.',
  },
  {
    id: 'agents-29-timeout',
    section: '29',
    quote:
      '`timeoutSeconds` of a tool (default 300): the signal is aborted; a result within 5 s more still counts; then the call fails and the model is told.',
  },
  {
    id: 'agents-29-environment',
    section: '29',
    quote:
      "The process has the server's environment without `RUNWIRE_SECRET`, `RUNWIRE_API_KEY`, `DATABASE_URL`, `PG*`, `OTEL_*` and the `AWS_*` and `S3_*` variables that the server uses itself.",
  },
  {
    id: 'agents-29-env',
    section: '29',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the form of a variable in agency.yaml
    quote: '`env:` in `agency.yaml` (`NAME: ${OTHER}` or plain text) adds single ones;',
  },
  {
    id: 'agents-29-env-typescript',
    section: '29',
    quote: 'an agency in `agency.ts` cannot have it, because its code runs before it is known.',
  },
  {
    id: 'agents-29-agency-error',
    section: '29',
    quote:
      '`instructions` functions […] that throw fail the run (in a delegation: the call) with code `agency_error` and a sentence that names agency, agent and function, never `internal_error`; it is charged 0, like `internal_error`.',
  },
  {
    id: 'agents-29-approval',
    section: '29',
    quote: '`needsApproval` that throws, or whose process ends, counts as true (section 14).',
  },
  {
    id: 'agents-29-older-version',
    section: '29',
    quote:
      'If the process of an older version of an agency ends, its files may be gone: runs of that version continue with the version that is loaded now, as after a takeover.',
  },
  {
    id: 'agents-29-agencies-process',
    section: '29',
    quote:
      '`/v2/agencies` items get `"process":{"state":"running|starting|failed|none","pid":1,"memoryBytes":1,"restarts":0,"lastFault":{"message":"…","tool":"refund","callId":"call_1","runId":"run_1","at":"…"}}`.',
  },
] as const;
