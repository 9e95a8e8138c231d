export const contractCodesAndShapes = [
  { id: 'contract-8-400-invalid-request', section: '8', quote: '| 400 | `invalid_request`,' },
  { id: 'contract-8-400-missing-allowance-attribution', section: '8', quote: '`missing_allowance_attribution`,' },
  { id: 'contract-8-400-usage-request-id-reused', section: '8', quote: '`usage_request_id_reused`,' },
  { id: 'contract-8-400-unknown-agent', section: '8', quote: '`unknown_agent` (names the entry points),' },
  { id: 'contract-8-400-unknown-agency', section: '8', quote: '`unknown_agency`,' },
  { id: 'contract-8-400-sandbox-file-not-found', section: '8', quote: '`sandbox_file_not_found`,' },
  {
    id: 'contract-8-400-invalid-attachment-refresh',
    section: '8',
    quote: '`invalid_attachment_refresh`,',
  },
  { id: 'contract-8-400-invalid-cursor', section: '8', quote: '`invalid_cursor`;' },
  { id: 'contract-8-400-idempotency-key-reused', section: '8', quote: '`idempotency_key_reused` (new),' },
  { id: 'contract-8-400-allowances-disabled', section: '8', quote: '`allowances_disabled` (new);' },
  {
    id: 'contract-8-400-completions',
    section: '8',
    quote: 'on completions also `unsupported_media_type`, `body_too_large` |',
  },
  { id: 'contract-8-401-invalid-api-key', section: '8', quote: '| 401 | `invalid_api_key` |' },
  { id: 'contract-8-403-integration-forbidden', section: '8', quote: '| 403 | `integration_forbidden`,' },
  { id: 'contract-8-403-administrator-only', section: '8', quote: '`administrator_only` |' },
  { id: 'contract-8-404-integration-not-found', section: '8', quote: '| 404 | `integration_not_found`,' },
  { id: 'contract-8-404-member-not-found', section: '8', quote: '`member_not_found`,' },
  { id: 'contract-8-404-chat-not-found', section: '8', quote: '`chat_not_found`,' },
  { id: 'contract-8-404-run-not-found', section: '8', quote: '`run_not_found`,' },
  { id: 'contract-8-404-file-not-found', section: '8', quote: '`file_not_found`,' },
  { id: 'contract-8-404-key-not-found', section: '8', quote: '`key_not_found`,' },
  { id: 'contract-8-404-not-found', section: '8', quote: '`not_found` |' },
  {
    id: 'contract-8-405-method-not-allowed',
    section: '8',
    quote: '| 405, 408, 410, 413, 415, 416 | `method_not_allowed`,',
  },
  { id: 'contract-8-408-request-timeout', section: '8', quote: '`request_timeout` (new),' },
  { id: 'contract-8-410-cursor-too-old', section: '8', quote: '`cursor_too_old`,' },
  { id: 'contract-8-413-body-too-large', section: '8', quote: '`body_too_large`,' },
  { id: 'contract-8-415-unsupported-media-type', section: '8', quote: '`unsupported_media_type`,' },
  { id: 'contract-8-416-range-not-satisfiable', section: '8', quote: '`range_not_satisfiable` |' },
  { id: 'contract-8-409-run-active', section: '8', quote: '| 409 | `run_active`,' },
  { id: 'contract-8-409-integration-exists', section: '8', quote: '`integration_exists`,' },
  { id: 'contract-8-409-owner-exists', section: '8', quote: '`owner_exists`,' },
  { id: 'contract-8-409-chat-exists', section: '8', quote: '`chat_exists`,' },
  { id: 'contract-8-409-alias-taken', section: '8', quote: '`alias_taken`,' },
  { id: 'contract-8-409-last-key', section: '8', quote: '`last_key` |' },
  { id: 'contract-8-409-erasure-running', section: '8', quote: '`erasure_running` (new) |' },
  { id: 'contract-8-429-consumer-inactive', section: '8', quote: '| 429 | `consumer_inactive`,' },
  { id: 'contract-8-429-consumer-allowance-exhausted', section: '8', quote: '`consumer_allowance_exhausted`,' },
  { id: 'contract-8-429-too-many-runs', section: '8', quote: '`too_many_runs`,' },
  { id: 'contract-8-429-too-many-streams', section: '8', quote: '`too_many_streams` (new) |' },
  {
    id: 'contract-8-500-internal-error',
    section: '8',
    quote: '| 500, 503 | `internal_error` (says nothing more; the log says all),',
  },
  { id: 'contract-8-503-shutting-down', section: '8', quote: '`shutting_down`,' },
  { id: 'contract-8-503-unavailable', section: '8', quote: '`unavailable` |' },
  { id: 'contract-8-stream-model-error', section: '8', quote: '| in the stream | `model_error`,' },
  { id: 'contract-8-stream-model-timeout', section: '8', quote: '`model_timeout`,' },
  { id: 'contract-8-stream-run-timeout', section: '8', quote: '`run_timeout`,' },
  {
    id: 'contract-8-stream-attachment-unavailable',
    section: '8',
    quote: '`attachment_unavailable`,',
  },
  { id: 'contract-8-stream-step-limit', section: '8', quote: '`step_limit`,' },
  { id: 'contract-8-stream-run-interrupted', section: '8', quote: '`run_interrupted`,' },
  { id: 'contract-8-stream-agency-error', section: '8', quote: '`agency_error` (charged 0)' },
  { id: 'contract-8-stream-internal-error', section: '8', quote: '`internal_error` |' },
  { id: 'contract-9-newest-first', section: '9', quote: 'Lists are newest first without exception.' },
  {
    id: 'contract-9-unknown-field',
    section: '9',
    quote: 'Outside completions and uploads an unknown body field is 400, named.',
  },
  { id: 'contract-9-characters', section: '9', quote: 'Characters are code points; blank is only white space.' },
  {
    id: 'contract-9-integration-id',
    section: '9',
    quote:
      '`apiIntegrationId` may be chosen on POST (`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`) and is never free again after DELETE.',
  },
  {
    id: 'contract-9-integration-id-case',
    section: '9',
    quote: 'Ids are unique regardless of letter case, checked on insert; look-ups stay exact.',
  },
  { id: 'contract-9-deleted-chat-frees', section: '9', quote: 'A deleted chat frees its chat id and alias;' },
  {
    id: 'contract-9-deleted-chat-runs',
    section: '9',
    quote: 'its runs answer with `chatDeleted: true`, `message: null`, and their events […] with 404 `chat_not_found`.',
  },
  { id: 'contract-9-deleted-chat-steps', section: '9', quote: 'and steps' },
  {
    id: 'contract-9-message-roles',
    section: '9',
    quote:
      'Messages have the roles `user` and `assistant` only: one user message at admission, one assistant message at every end, even with empty `content`;',
  },
  { id: 'contract-9-tool-calls-are-steps', section: '9', quote: 'tool calls are steps.' },
  { id: 'contract-9-charged-off', section: '9', quote: 'Allowances off: `charged` and `periodStart` null;' },
  {
    id: 'contract-9-charged-running',
    section: '9',
    quote: 'while a run runs, `charged` null and the usage of its finished steps.',
  },
  {
    id: 'contract-9-usage',
    section: '9',
    quote:
      '// U = usage everywhere {"request_count":1,"input_tokens":12,"cached_tokens":0,"output_tokens":5,"reasoning_tokens":0,"total_tokens":17}',
  },
  {
    id: 'contract-9-run',
    section: '9',
    quote:
      '// run (chat_status.run is a subset) {"runId":"run_1","apiIntegrationId":"demo","chatId":"c1","chatDeleted":false,"consumerId":"user-42","usageRequestId":"req-1","status":"completed","cancelRequested":null,"agent":"Concierge","attempt":1,"lastEventId":41,"createdAt":"2030-01-01T00:00:00.000Z","startedAt":"…","completedAt":"…","error":null,"message":"Hello","usage":U}',
  },
  {
    id: 'contract-9-chat',
    section: '9',
    quote:
      '// chat; POST …/chats takes {chatId?, aliasChatId?, consumerId?} {"chatId":"c1","aliasChatId":null,"apiIntegrationId":"demo","consumerId":"user-42","status":"idle","activeRunId":null,"numMessages":2,"createdAt":"…","updatedAt":"…"}',
  },
  {
    id: 'contract-9-chat-more',
    section: '9',
    quote:
      'A chat has `title` (string of at most 200 characters, or null) and `metadata` (object of at most 16 KiB as JSON, or null). PATCH sets both; lists show both.',
  },
  {
    id: 'contract-9-message',
    section: '9',
    quote:
      '// message {"messageId":"msg_2","chatId":"c1","runId":"run_1","role":"assistant","status":"completed","agent":"Concierge","content":"Hello","attachments":[],"sandboxFiles":[],"error":null,"createdAt":"…"}',
  },
  {
    id: 'contract-9-member',
    section: '9',
    quote:
      '// member {"consumerId":"user-42","name":null,"active":true,"metadata":{},"ownLimit":null,"allowance":{"unit":"tokens","limit":100000,"used":17,"reserved":0,"remaining":99983,"period":"month","periodStart":"2030-01-01T00:00:00.000Z","resetAt":"2030-02-01T00:00:00.000Z","exhausted":false},"createdAt":"…","updatedAt":"…"}',
  },
  {
    id: 'contract-9-integration',
    section: '9',
    quote:
      '// integration; onDisconnect: continue|cancel; PATCH replaces `allowances` whole {"apiIntegrationId":"demo","name":"Demo","agency":"demo","defaultAgent":"Concierge","textOnly":false,"allowances":{"unit":"tokens","limit":100000,"period":"month"},"onDisconnect":"continue","maxRunSeconds":900,"maxRunsPerMember":null,"keepAttachments":true,"createdAt":"…","updatedAt":"…"}',
  },
  {
    id: 'contract-9-key',
    section: '9',
    quote:
      '// key; POST takes {name?, expiresAt?}; "apiKey":"eyJ…" only in its 201; DELETE revokes, stays listed {"keyId":"key_1","name":"backend","createdAt":"…","expiresAt":null,"lastUsedAt":null,"revokedAt":null}',
  },
  {
    id: 'contract-9-file',
    section: '9',
    quote:
      '// file; a folder: kind "folder"; size, etag, contentType null {"name":"a.png","path":"/app/mnt/u/42/a.png","kind":"file","size":3,"etag":"\\"…\\"","contentType":"image/png","modifiedAt":"…"}',
  },
  {
    id: 'contract-9-agency-flow-kinds',
    section: '9',
    quote: '// agency; flows.kind: handoff|delegate',
  },
  {
    id: 'contract-9-agency',
    section: '9',
    quote:
      '{"agency":"demo","name":"Demo","defaultAgent":"Concierge","entryPoints":["Concierge"],"agents":[{"name":"Concierge","description":"…","model":"offline/demo","tools":["clock"]}],"flows":[{"from":"Concierge","to":"Writer","kind":"handoff"}],"error":null}',
  },
  {
    id: 'contract-9-me',
    section: '9',
    quote:
      '// GET /v2/me (by RUNWIRE_API_KEY: keyId null, name "RUNWIRE_API_KEY") {"ownerId":"own_1","email":null,"name":null,"administrator":true,"key":{"keyId":"key_1","name":"first","expiresAt":null}}',
  },
  {
    id: 'contract-9-node',
    section: '9',
    quote:
      '// GET /v2/nodes items; state: alive|draining|dead {"nodeId":"node_1","boot":"…","state":"alive","self":true,"version":"0.1.0","startedAt":"…","lastSeenAt":"…","activeRuns":3}',
  },
  {
    id: 'contract-9-usage-summary',
    section: '9',
    quote:
      '// usage/summary (from ≤ admission < to) {"groupBy":"consumer","from":"…","to":"…","items":[{"key":"user-42","runs":3,"usage":U,"charged":{"runs":3,"tokens":51,"credits":0}}],"nextCursor":null}',
  },
  {
    id: 'contract-9-step',
    section: '9',
    quote:
      '// step; kind: model|tool; status: completed|failed {"step":1,"attempt":1,"kind":"tool","agent":"Concierge","callerAgent":null,"model":null,"tool":"clock","callId":"call_1","status":"completed","firstEventId":2,"lastEventId":17,"usage":null,"error":null,"startedAt":"…","completedAt":"…"}',
  },
  {
    id: 'contract-9-new-messages-user',
    section: '9',
    quote:
      '// new_messages: OpenAI items in order, the user\'s first, as agency-swarm sends them (timestamp: microseconds) [{"type":"message","role":"user","content":"Hi","agent":"Concierge","callerAgent":null,"timestamp":1893456000000000},',
  },
  {
    id: 'contract-9-new-messages-tools',
    section: '9',
    quote:
      '{"type":"function_call","id":"fc_1","call_id":"call_1","name":"clock","arguments":"{}","status":"completed","agent":"Concierge","callerAgent":null,"timestamp":1893456000000001}, {"type":"function_call_output","call_id":"call_1","output":"12:00","agent":"Concierge","callerAgent":null,"timestamp":1893456000000002},',
  },
  {
    id: 'contract-9-new-messages-assistant',
    section: '9',
    quote:
      '{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Hello","annotations":[]}],"agent":"Concierge","callerAgent":null,"timestamp":1893456000000003}]',
  },
  {
    id: 'contract-9-refusal-run-active',
    section: '9',
    quote:
      '// refusals: 409 · 429 · 400 reused {"error":"…","code":"run_active","runId":"run_1","usageRequestId":"req-1","chatId":"c1"}',
  },
  {
    id: 'contract-9-refusal-exhausted',
    section: '9',
    quote: '{"error":"…","code":"consumer_allowance_exhausted","resetAt":"2030-02-01T00:00:00.000Z"}',
  },
  {
    id: 'contract-9-refusal-reused',
    section: '9',
    quote: '{"error":"…","code":"usage_request_id_reused","runId":"run_1"}',
  },
] as const;
