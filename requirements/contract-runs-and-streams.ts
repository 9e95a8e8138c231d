export const contractRunsAndStreams = [
  {
    id: 'contract-4-strict',
    section: '4',
    quote:
      "**Validation** is strict: no coercion, no removal, no default-filling (Fastify's Ajv does all three unless told not to).",
  },
  { id: 'contract-4-null', section: '4', quote: 'null only where the spec says null.' },
  { id: 'contract-4-empty-message', section: '4', quote: '`message: ""` is valid.' },
  { id: 'contract-4-unknown-fields', section: '4', quote: 'Unknown fields are ignored at the top level,' },
  {
    id: 'contract-4-unknown-fields-files',
    section: '4',
    quote: 'in sandbox files and in the upload request,',
  },
  { id: 'contract-4-unknown-fields-attachments', section: '4', quote: 'and are 400 in attachments.' },
  {
    id: 'contract-4-json-traps',
    section: '4',
    quote: 'Duplicate JSON members, invalid UTF-8, lone surrogates and nesting beyond 64 are 400.',
  },
  {
    id: 'contract-4-media-and-size',
    section: '4',
    quote:
      'On this operation a wrong media type or too large a body is 400 too (`unsupported_media_type`, `body_too_large`);',
  },
  { id: 'contract-4-media-and-size-elsewhere', section: '4', quote: 'elsewhere 415 and 413.' },
  {
    id: 'contract-4-blank-attribution',
    section: '4',
    quote:
      'A blank `consumerId` or `usageRequestId` (only white space, tabs included, of any length) counts as missing; also when bodies are compared for a replay.',
  },
  {
    id: 'contract-4-order',
    section: '4',
    quote:
      '**Order of the checks**, first failure wins: 401 key · 400 body · 404 integration · 403 owner · 400 attribution · **replay of a known `usageRequestId`** (or 400 `usage_request_id_reused`) · 404 member · 429 `consumer_inactive` · 400/404 chat · 400 agent, […] 409 chat busy · 429 allowance,',
  },
  { id: 'contract-4-order-sandbox-files', section: '4', quote: 'sandbox files,' },
  { id: 'contract-4-order-refreshes', section: '4', quote: 'refreshes ·' },
  {
    id: 'contract-4-order-load',
    section: '4',
    quote: '503 `shutting_down`, `unavailable` (active runs) ·',
  },
  { id: 'contract-4-order-too-many-runs', section: '4', quote: '`too_many_runs`.' },
  {
    id: 'contract-4-replay-first',
    section: '4',
    quote: 'Nothing about member, chat, agent, files, allowance or load stands before the replay.',
  },
  {
    id: 'contract-4-sandbox-files-asked',
    section: '4',
    quote: 'Whether sandbox files exist is asked before the transaction;',
  },
  {
    id: 'contract-4-one-transaction',
    section: '4',
    quote:
      'replay, member, chat, busy, allowance and reservation are one transaction that admits everything or reserves nothing.',
  },
  {
    id: 'contract-4-member-checked',
    section: '4',
    quote: 'Whenever `consumerId` is given, allowances on or off, the member must be registered and active.',
  },
  {
    id: 'contract-4-header-false',
    section: '4',
    quote:
      '**The header.** `X-Agent-Run-Admitted: false` means: this request reserved no run (an earlier send of the same id may have been admitted; the chat status decides).',
  },
  {
    id: 'contract-4-header-true',
    section: '4',
    quote:
      '`true` is sent only after the reservation is durable, and on a replay, with `X-Run-Id` and `X-Chat-Id` (percent-encoded).',
  },
  { id: 'contract-4-header-always', section: '4', quote: 'Every answer at this path carries it, whatever its status,' },
  {
    id: 'contract-4-header-unknown',
    section: '4',
    quote:
      'with one exception: where the outcome of the commit cannot be learned, the answer is 503 `unavailable` without the header (after a read-back on a new connection was tried).',
  },
  {
    id: 'contract-4-no-error-after-reservation',
    section: '4',
    quote: 'After the reservation no error status is sent: it is 200 and the stream tells the failure.',
  },
  {
    id: 'contract-4-ids',
    section: '4',
    quote:
      '**Ids** that callers choose (`chatId`, `aliasChatId`, `consumerId`, `usageRequestId`): 1–256 characters without control characters, compared byte for byte.',
  },
  { id: 'contract-4-chat-new', section: '4', quote: '**Chats.** No `chatId` and no `aliasChatId`: a new chat.' },
  { id: 'contract-4-chat-unknown-id', section: '4', quote: 'Unknown `chatId`: a chat of that id.' },
  { id: 'contract-4-chat-unknown-alias', section: '4', quote: 'Unknown alias: a new chat bound to it.' },
  { id: 'contract-4-alias-unique', section: '4', quote: 'Aliases are unique within the integration, one per chat.' },
  {
    id: 'contract-4-chat-bind-alias',
    section: '4',
    quote: 'Known chat + unknown alias: bound if the chat has none, else 400.',
  },
  {
    id: 'contract-4-chat-alias-conflict',
    section: '4',
    quote: 'Unknown `chatId` + known alias, or both known and different: 400.',
  },
  {
    id: 'contract-4-chat-consumer',
    section: '4',
    quote: 'A chat belongs to the consumer that began it (or to none); any other gets 404 `chat_not_found`.',
  },
  { id: 'contract-4-refused-no-chat', section: '4', quote: 'A refused request makes no chat.' },
  {
    id: 'contract-4-usage-request-id-unique',
    section: '4',
    quote:
      '**Idempotence.** `usageRequestId` is unique within an integration, for ever: deleting a chat or expiring events keeps run row, usage record and id.',
  },
  {
    id: 'contract-4-replay',
    section: '4',
    quote:
      'Sent again with the same body it never starts and never charges again: 200, the same `X-Run-Id`, `X-Run-Replayed: true`,',
  },
  {
    id: 'contract-4-replay-stream',
    section: '4',
    quote: 'and the stream from its start (or after `Last-Event-ID`), live if the run still runs,',
  },
  { id: 'contract-4-replay-ended', section: '4', quote: 'also for a failed or cancelled run' },
  {
    id: 'contract-4-replay-deleted-chat',
    section: '4',
    quote: '(of a deleted chat: 400 `usage_request_id_reused`; its status still answers, with `chatDeleted: true`).',
  },
  {
    id: 'contract-4-same-body',
    section: '4',
    quote:
      'Same body: the parsed fields, keys in any order, null equal to absent at the top level and nothing else equated,',
  },
  {
    id: 'contract-4-same-body-attachments',
    section: '4',
    quote: 'leaving out `attachmentUrlRefreshes`, the query strings of attachment URLs,',
  },
  { id: 'contract-4-same-body-chat', section: '4', quote: "and a chat id or alias that names the run's own chat." },
  {
    id: 'contract-4-other-body',
    section: '4',
    quote: 'With another body: 400 `usage_request_id_reused`, naming the `runId`.',
  },
  {
    id: 'contract-4-retry-new-id',
    section: '4',
    quote: 'A retry after a failed response is a new request with a new id.',
  },
  { id: 'contract-4-refused-id-unused', section: '4', quote: 'A refused request leaves its id unused.' },
  {
    id: 'contract-4-post-last-event-id',
    section: '4',
    quote:
      '`Last-Event-ID` on the POST counts only in an SSE replay, on every node as it does at `…/events`: ahead of a live run it waits; in a compacted run, or at or after the end of an ended run, it is treated as absent.',
  },
  {
    id: 'contract-4-ahead-of-end',
    section: '4',
    quote: 'if the run ends before that id, the server sends `messages` and `end`',
  },
  {
    id: 'contract-4-busy',
    section: '4',
    quote:
      '**Busy chat.** 409 `run_active`, with `runId`, `usageRequestId` and `chatId` of the active run beside `error` and `code`.',
  },
  { id: 'contract-4-disconnect-continue', section: '4', quote: '**Disconnect.** The run goes on (default),' },
  {
    id: 'contract-4-disconnect-cancel',
    section: '4',
    quote:
      'or, where the integration says `onDisconnect: "cancel"`, is cancelled when no reader, […] has been attached for 10 s.',
  },
  { id: 'contract-4-disconnect-any-node', section: '4', quote: 'on any node,' },
  {
    id: 'contract-4-shutdown-no-disconnect',
    section: '4',
    quote: 'Shutdown or crash of a node is no disconnect.',
  },
  {
    id: 'contract-4-limits-settings',
    section: '4',
    quote: '**Limits**, each a setting with a default:',
  },
  { id: 'contract-4-limit-body', section: '4', quote: 'body 32 MiB,' },
  { id: 'contract-4-limit-message', section: '4', quote: 'message 1 000 000 characters,' },
  { id: 'contract-4-limit-image', section: '4', quote: 'decoded inline image 20 MiB,' },
  { id: 'contract-4-limit-user-context', section: '4', quote: '`user_context` 256 KiB,' },
  { id: 'contract-4-limit-values', section: '4', quote: 'values in a body 10 000,' },
  {
    id: 'contract-4-limit-attachment',
    section: '4',
    quote: 'fetched attachment 20 MiB and 30 s,',
  },
  { id: 'contract-4-limit-run-time', section: '4', quote: 'run 15 min,' },
  { id: 'contract-4-limit-silence', section: '4', quote: 'silence of the model 120 s,' },
  { id: 'contract-4-limit-steps', section: '4', quote: 'steps per run 50,' },
  { id: 'contract-4-limit-member-runs', section: '4', quote: 'runs at once per member unlimited,' },
  {
    id: 'contract-4-limit-active-runs',
    section: '4',
    quote: 'active runs per node 2 000 (then 503 `unavailable`, header `false`, `Retry-After`),',
  },
  {
    id: 'contract-4-limit-request-time',
    section: '4',
    quote:
      'Headers and body must arrive within 120 s, with at most 20 s without a byte; otherwise 408 `request_timeout` (`ApiErrorResponse`, `Connection: close`, on completions header `false`), or a plain close if an answer has begun.',
  },
  {
    id: 'contract-4-limit-discarded-body',
    section: '4',
    quote: 'This also holds for bodies that the server discards after a refusal.',
  },
  {
    id: 'contract-4-limit-upload-time',
    section: '4',
    quote: "The upload address keeps its own limits and S3's errors.",
  },
  {
    id: 'contract-4-owner-half',
    section: '4',
    quote:
      'If the installation has more than one owner, each may hold at most half of each shared budget of a node, also while no other owner asks: active runs, bytes of bodies being read, bytes and slots of attachments, slots of the document reader.',
  },
  {
    id: 'contract-4-owner-queue',
    section: '4',
    quote:
      'Above that, the owner is answered as if the budget were full, or waits in its own queue; queues take turns by owner.',
  },
  { id: 'contract-4-single-owner', section: '4', quote: 'A single owner may use everything.' },
  {
    id: 'contract-4-limit-stored-events',
    section: '4',
    quote:
      "stored events 7 days after the run's end (`RUNWIRE_LOG_DAYS`; then compacted: `meta`, every `resumed`, one delta per content part, run items, the error frame, `messages`, `end`, each under the id of the last event it stands for).",
  },
  {
    id: 'contract-5-framing',
    section: '5',
    quote: "Framing that existing clients of agency-swarm's stream read unchanged, a superset of it.",
  },
  {
    id: 'contract-5-ids',
    section: '5',
    quote:
      'Every frame has an `id`: (attempt − 1) · 10⁹ + n, so ids grow within a run and no id of a later attempt can meet one of an earlier; readers treat them as growing, not as consecutive.',
  },
  { id: 'contract-5-flushed', section: '5', quote: 'The headers and a first comment are flushed at once;' },
  { id: 'contract-5-heartbeat', section: '5', quote: 'a comment every 10 s of silence, between frames only.' },
  {
    id: 'contract-5-headers',
    section: '5',
    quote: '`Cache-Control: no-cache, no-transform`, `X-Accel-Buffering: no`, never compressed.',
  },
  {
    id: 'contract-5-meta',
    section: '5',
    quote:
      'id: 1 event: meta data: {"run_id":"run_…","chatId":"…","aliasChatId":null,"usageRequestId":"…","consumerId":"…","agent":"Concierge","createdAt":"…"}',
  },
  {
    id: 'contract-5-delta',
    section: '5',
    quote:
      'id: 2 data: {"data":{"type":"raw_response_event","agent":"Concierge","callerAgent":null,"data":{"type":"response.output_text.delta","item_id":"msg_1","output_index":0,"content_index":0,"delta":"Hel","sequence_number":2}}}',
  },
  {
    id: 'contract-5-messages',
    section: '5',
    quote:
      'id: 40 event: messages data: {"run_id":"run_…","chatId":"…","status":"completed","new_messages":[…],"usage":{…},"files":[…],"error":null}',
  },
  { id: 'contract-5-end', section: '5', quote: 'id: 41 event: end data: [DONE]' },
  {
    id: 'contract-5-raw-events',
    section: '5',
    quote:
      '`data.type` is `raw_response_event` (inside: OpenAI Responses events: `response.created`, `response.output_item.added`, `response.content_part.added`, `response.output_text.delta|done`, `response.content_part.done`, `response.output_item.done`,',
  },
  {
    id: 'contract-5-raw-function-call',
    section: '5',
    quote: '`response.function_call_arguments.delta|done`,',
  },
  {
    id: 'contract-5-raw-reasoning',
    section: '5',
    quote: '`response.reasoning_summary_text.delta|done`,',
  },
  { id: 'contract-5-raw-completed', section: '5', quote: '`response.completed`),' },
  {
    id: 'contract-5-run-item',
    section: '5',
    quote: '`run_item_stream_event` (`name`: […] `message_output_created`, […] `item`),',
  },
  { id: 'contract-5-run-item-tools', section: '5', quote: '`tool_called`, `tool_output`,' },
  {
    id: 'contract-5-run-item-handoff',
    section: '5',
    quote: '`handoff_requested`, `handoff_occured`, …;',
  },
  { id: 'contract-5-agent-updated', section: '5', quote: 'or `agent_updated_stream_event`.' },
  {
    id: 'contract-5-numbers',
    section: '5',
    quote: 'Numbers are numbers, null is null (agency-swarm sends strings there: said in the migration notes).',
  },
  { id: 'contract-5-agent', section: '5', quote: '`agent` says who speaks, `callerAgent` who asked (null: the user;' },
  { id: 'contract-5-agent-handoff', section: '5', quote: 'after a hand-off too).' },
  {
    id: 'contract-5-answer',
    section: '5',
    quote:
      'The answer is the concatenation of the `response.output_text.delta` whose `callerAgent` is null and which are not void.',
  },
  {
    id: 'contract-5-meta-once',
    section: '5',
    quote:
      'The log holds exactly one `meta` (first), one `messages` and one `end` (last), whatever happened; a connection may be cut before.',
  },
  { id: 'contract-5-messages-durable', section: '5', quote: '`messages` is sent after the end of the run is durable.' },
  {
    id: 'contract-5-failed',
    section: '5',
    quote:
      'A run that fails: the unnamed frame `data: {"error":"…","code":"…","run_id":"…"}`, then `messages` with `"status":"failed"` and `error:{code,message}`, then `end`.',
  },
  {
    id: 'contract-5-cancelled',
    section: '5',
    quote: 'A cancelled run: `messages` with `"status":"cancelled"`, `"cancelled":true`.',
  },
  {
    id: 'contract-5-failed-tool',
    section: '5',
    quote: 'A failed tool call is not a failed run: the model is told and goes on.',
  },
  {
    id: 'contract-5-resumed',
    section: '5',
    quote:
      'After a crash the first event is always `event: resumed`, `data: {"run_id":"…","attempt":2,"discard_after":17}`, also where the run then fails:',
  },
  { id: 'contract-5-void', section: '5', quote: 'what came after id 17 is void; void events are never sent again;' },
  { id: 'contract-5-resumed-replayed', section: '5', quote: '`resumed` is part of every replay.' },
  {
    id: 'contract-5-void-items',
    section: '5',
    quote:
      '`resumed` may have `void_items` (ids of items of delegated agents that were never finished): readers drop these items.',
  },
  {
    id: 'contract-5-text-only',
    section: '5',
    quote:
      "Text Only Mode is another reader of the same run: `text/plain; charset=utf-8`, the answer's text as it comes, refusals as JSON.",
  },
  {
    id: 'contract-5-text-only-end',
    section: '5',
    quote:
      'It ends normally only if the run completed; failed, cancelled or void text already sent ends it abnormally (no final chunk), also at zero bytes.',
  },
  { id: 'contract-5-text-only-replay', section: '5', quote: 'A replay sends the whole text.' },
  { id: 'contract-5-text-only-accept', section: '5', quote: '`Accept` never changes the type.' },
  {
    id: 'contract-5-text-only-docs',
    section: '5',
    quote: '(No heartbeat is possible: the docs name the proxy timeout to set.)',
  },
  {
    id: 'contract-5-slow-reader',
    section: '5',
    quote:
      'A reader that is slow never slows the run and never grows memory: it is served from the log at its own pace.',
  },
  {
    id: 'contract-5-encoders',
    section: '5',
    quote: 'Other framings of the same events are encoders beside the default; the engine knows none of them.',
  },
] as const;
