export const contractRecords = [
  {
    id: 'contract-6-run-states',
    section: '6',
    quote: 'Run: `admitted → running → completed | failed | cancelled`; ends are written once.',
  },
  {
    id: 'contract-6-chat-states',
    section: '6',
    quote: 'Chat: `idle | running`, derived from its active run, never stored twice.',
  },
  {
    id: 'contract-6-message-status',
    section: '6',
    quote: 'A message carries `status` `completed | failed | cancelled`.',
  },
  {
    id: 'contract-6-chat-status',
    section: '6',
    quote:
      'Chat status: ```json {"chatId":"…","aliasChatId":null,"apiIntegrationId":"…","consumerId":"user-42","status":"running","activeRunId":"run_…","chatDeleted":false, "numMessages":3,"createdAt":"…","updatedAt":"…", "run":{"runId":"run_…","usageRequestId":"req-1","status":"running","agent":"Concierge","attempt":1,"lastEventId":17, "createdAt":"…","startedAt":"…","completedAt":null,"error":null,"message":null,"usage":null}}',
  },
  {
    id: 'contract-6-chat-status-run',
    section: '6',
    quote: 'Asked by `usageRequestId`, `run` is that run; otherwise the newest, or null.',
  },
  {
    id: 'contract-6-chat-status-error',
    section: '6',
    quote: '`run.error` is `{code, message}`, `run.message` the final assistant text.',
  },
  {
    id: 'contract-6-unknown-usage-request-id',
    section: '6',
    quote:
      'An unknown `usageRequestId` is 404 `run_not_found`: nothing is reserved yet; send it again with the same id.',
  },
  {
    id: 'contract-6-cancel',
    section: '6',
    quote:
      "Cancel answers 200 `{runId, chatId, status, cancelled, usage}` once the run has stopped (the provider's connection closed, the end durable, the chat idle),",
  },
  { id: 'contract-6-cancel-202', section: '6', quote: 'or 202 with `"status":"cancelling"` after 10 s.' },
  {
    id: 'contract-6-cancel-cancelled',
    section: '6',
    quote: '`cancelled` is true exactly when `status` is `cancelled`, however often asked.',
  },
  {
    id: 'contract-6-cancel-kept',
    section: '6',
    quote: 'Finished messages and partial text stay, marked; what was used is charged.',
  },
  { id: 'contract-6-handoff', section: '6', quote: 'A hand-off lasts to the end of the run;' },
  {
    id: 'contract-6-next-turn-agent',
    section: '6',
    quote:
      'the next turn starts at `agent` or the default (the spec: "When omitted, the integration\'s default is used").',
  },
  { id: 'contract-6-allowance-units', section: '6', quote: 'Allowance: `{"unit":"runs|tokens' },
  { id: 'contract-6-allowance-credits', section: '6', quote: '|credits",' },
  {
    id: 'contract-6-allowance',
    section: '6',
    quote: '"limit":100000,"period":"day|week|month|lifetime"}` on the integration;',
  },
  { id: 'contract-6-allowance-member', section: '6', quote: 'a member may have another limit.' },
  { id: 'contract-6-periods', section: '6', quote: 'Periods begin at 00:00 UTC (week: Monday).' },
  {
    id: 'contract-6-allowance-read-back',
    section: '6',
    quote:
      'Read back as `{unit, limit, used, reserved, remaining, period, periodStart, resetAt, exhausted}`, `remaining` = max(0, limit − used − reserved), `exhausted` = remaining is 0.',
  },
  { id: 'contract-6-period-of-admission', section: '6', quote: 'A run counts in the period in which it was admitted.' },
  {
    id: 'contract-6-reserve',
    section: '6',
    quote:
      "Admission reserves, in `runs`: 1; in `tokens`: a quarter of the UTF-8 bytes of `message` and of the chat's earlier message texts (a column of the chat), rounded up, at least 1,",
  },
  {
    id: 'contract-6-reserve-answer',
    section: '6',
    quote:
      'plus 1 000 for instructions and answer (`RUNWIRE_RESERVE_TOKENS`), so that concurrent requests cannot exceed a limit many times over;',
  },
  {
    id: 'contract-6-reserve-credits',
    section: '6',
    quote: "in `credits`: that amount, the 1 000 included, at the entry agent's input price.",
  },
  {
    id: 'contract-6-refuse-and-settle',
    section: '6',
    quote: 'Admission refuses if `used + reserved >= limit`. The end of the run settles.',
  },
  {
    id: 'contract-6-charged-zero',
    section: '6',
    quote: 'Charged: ends by `internal_error`, `run_interrupted` […] 0 in every unit;',
  },
  {
    id: 'contract-6-charged-zero-attachment',
    section: '6',
    quote: 'or `attachment_unavailable`',
  },
  {
    id: 'contract-6-charged-zero-agency',
    section: '6',
    quote: 'or `agency_error` is charged 0 in every unit.',
  },
  { id: 'contract-6-charged-real', section: '6', quote: 'every other end its real usage' },
  {
    id: 'contract-6-charged-cut-step',
    section: '6',
    quote: '(of a step cut short: what the provider reported, else an estimate from the text),',
  },
  { id: 'contract-6-charged-runs', section: '6', quote: 'and 1 in `runs`.' },
  {
    id: 'contract-6-charged-not-accepted',
    section: '6',
    quote:
      'Exception: a run that fails or is cancelled before any model accepted a call is charged nothing: 0 runs, 0 tokens, 0 credits.',
  },
  {
    id: 'contract-6-accepted',
    section: '6',
    quote:
      'A model has accepted a call when its provider answered 2xx; models without HTTP (the offline model, AI SDK objects) have accepted it when their first event arrived.',
  },
  {
    id: 'contract-6-accepted-attempt',
    section: '6',
    quote: 'Only an acceptance in the attempt that ends the run, or in a journalled step, counts.',
  },
  {
    id: 'contract-6-cancelled-before-output',
    section: '6',
    quote: 'A run that is cancelled after an acceptance, before the first output, is charged the estimated input.',
  },
  {
    id: 'contract-6-charged-while-off',
    section: '6',
    quote: 'Runs made while allowances were off count when they are switched on.',
  },
  { id: 'contract-6-reservation-ends', section: '6', quote: 'A reservation never outlives its run.' },
  {
    id: 'contract-6-429',
    section: '6',
    quote:
      '429 carries `code`, and for an exhausted allowance `resetAt` and `Retry-After` (1 where only reservations fill it, for `lifetime` too; otherwise none for `lifetime`, and `resetAt` null).',
  },
  {
    id: 'contract-6-credit-prices',
    section: '6',
    quote:
      'Credits come from a price table (model → credits per million input, cached input and output tokens) in the settings.',
  },
  {
    id: 'contract-6-adjustment-amount',
    section: '6',
    quote:
      '`POST /v2/integrations/{id}/members/{consumerId}/adjustments` takes `{"amount": number, "unit": the allowance\'s unit, "reason": string, "idempotencyKey": string}`. A positive amount gives back, a negative amount takes.',
  },
  {
    id: 'contract-6-adjustment-fields',
    section: '6',
    quote:
      "All four fields are required; `amount` is not 0 (an integer in runs and tokens), `reason` has 1–500 and the key 1–256 characters; the key is unique per member; another unit than the allowance's is 400.",
  },
  {
    id: 'contract-6-adjustment',
    section: '6',
    quote:
      '201, a repeat 200: `{"kind":"adjustment","adjustmentId":"adj_1","consumerId":…,"unit":"tokens","amount":500,"applied":500,"reason":…,"idempotencyKey":…,"periodStart":…,"createdAt":…}`. It counts on the day it is made.',
  },
  {
    id: 'contract-6-adjustment-summary',
    section: '6',
    quote: '`usage/summary` leaves adjustments out.',
  },
  {
    id: 'contract-6-adjustment-repeat',
    section: '6',
    quote:
      '`idempotencyKey`: the same key and body again returns the same record; with another body 400 `idempotency_key_reused`.',
  },
  {
    id: 'contract-6-adjustment-applied',
    section: '6',
    quote: '`used` never falls below 0; the record shows the amount that was applied.',
  },
  {
    id: 'contract-6-adjustment-off',
    section: '6',
    quote: 'If allowances are off: 400 `allowances_disabled`.',
  },
  { id: 'contract-6-usage-kind', section: '6', quote: 'Usage records have `kind` `run` or `adjustment`.' },
  {
    id: 'contract-6-adjustment-lists',
    section: '6',
    quote:
      'An adjustment changes the usage of the current period. GET on the same path lists the adjustments; usage exports (`GET …/usage`, JSON and CSV) list each one as a record of kind `adjustment`.',
  },
  {
    id: 'contract-6-erasure',
    section: '6',
    quote:
      "`DELETE /v2/integrations/{id}/members/{consumerId}?erase=true` erases a person: chats, messages, attachments, files below the member's folder, run texts and `user_context`. Usage records stay; their `consumerId` is replaced by `erased_<hash>`.",
  },
  {
    id: 'contract-6-erasure-refused',
    section: '6',
    quote: 'One transaction makes the id refused (404 `member_not_found`) and stores the erasure.',
  },
  {
    id: 'contract-6-erasure-replaced',
    section: '6',
    quote:
      "Active runs are cancelled and awaited; one transaction replaces the id by `erased_<hash>` (16 hex digits of an HMAC with the installation's secret) in runs, usage records, adjustments and daily sums, sets `reason` of adjustments to null and replaces `chatId` of kept runs by its hash;",
  },
  {
    id: 'contract-6-erasure-files',
    section: '6',
    quote:
      "then the rest is deleted: files below the member's folder and files that runs of the member's chats made (announced files elsewhere stay).",
  },
  {
    id: 'contract-6-erasure-again',
    section: '6',
    quote:
      'A PUT of the member before the replacement: 409 `erasure_running`; afterwards it makes a new member with nothing used. A repeated DELETE: 202 with the same status. It also works after a plain DELETE, if anything of the id is stored; otherwise, and for GET without an erasure, 404 `member_not_found`.',
  },
  {
    id: 'contract-6-erasure-status',
    section: '6',
    quote:
      'Status: `{"consumerId":…,"status":"erasing|erased","startedAt":…,"finishedAt":null}`, kept for 30 days under the erased id\'s hash and readable by the id.',
  },
  {
    id: 'contract-6-erasure-durable',
    section: '6',
    quote:
      'The erasure is durable and resumes after a crash. The answer is 202 with a status, which the caller polls at `GET …/members/{consumerId}/erasure`.',
  },
  {
    id: 'contract-6-usage-record-once',
    section: '6',
    quote:
      'Usage record, exactly one per run, from admission on (`status: "running"`), keyed by `usageRequestId` where given;',
  },
  { id: 'contract-6-usage-record-tokens', section: '6', quote: 'the real tokens stand beside what was charged:' },
  {
    id: 'contract-6-usage-record',
    section: '6',
    quote:
      '{"usageRequestId":"req-1","consumerId":"user-42","chatId":"…","runId":"run_…","agent":"Concierge","status":"completed", "usage":{"request_count":2,"input_tokens":950,"cached_tokens":0,"output_tokens":212,"reasoning_tokens":0,"total_tokens":1162}, "byModel":[{"model":"openai/…","input_tokens":950,"cached_tokens":0,"output_tokens":212}],"charged":{"unit":"tokens","amount":1162}, "periodStart":"…","startedAt":"…","completedAt":"…"}',
  },
] as const;
