export const specRequirements = [
  {
    id: 'spec-1-run-agent',
    section: '1',
    quote: 'The service runs an agent (an entry point of an agency) for a message and returns the result as a stream.',
  },
  {
    id: 'spec-1-own-backend',
    section: '1',
    quote: 'It lets a caller run agents from its own backend or from channels that are not supported natively.',
  },
  {
    id: 'spec-1-on-behalf',
    section: '1',
    quote:
      'A caller acts on behalf of an integration, identified by `apiIntegrationId`, and on behalf of an app member (consumer) of that integration.',
  },
  { id: 'spec-1-metered', section: '1', quote: 'Runs can be metered.' },
  {
    id: 'spec-1-attribution',
    section: '1',
    quote:
      'When member allowances are enabled, each request must name the consumer and carry a unique usage request id.',
  },
  {
    id: 'spec-1-refused-consumer',
    section: '1',
    quote: 'A consumer that is inactive or has used up the current allowance is refused.',
  },
  {
    id: 'spec-1-end-above-limit',
    section: '1',
    quote: 'A response that is already streaming may end above the allowance limit.',
  },
  { id: 'spec-1-next-refused', section: '1', quote: 'The next request is then refused.' },
  {
    id: 'spec-1-files-by-url',
    section: '1',
    quote: 'Files reach an agent in three ways: as attachments given by URL,',
  },
  { id: 'spec-1-files-inline', section: '1', quote: 'as inline image data URLs,' },
  {
    id: 'spec-1-files-sandbox',
    section: '1',
    quote: "or as files already uploaded into the integration's persistent agency mount (`sandboxFiles`).",
  },
  {
    id: 'spec-1-signed-form',
    section: '1',
    quote: 'Uploading uses a signed form from the second operation.',
  },
  { id: 'spec-1-history', section: '1', quote: 'Chat history is kept per chat.' },
  { id: 'spec-1-failed-stays', section: '1', quote: 'A failed response stays in the history.' },
  {
    id: 'spec-1-failed-attachments',
    section: '1',
    quote: 'Its attachments are not sent again in later turns, so they must be attached again to retry.',
  },
  { id: 'spec-1-other-messages', section: '1', quote: 'Other messages […] remain available.' },
  {
    id: 'spec-1-other-attachments',
    section: '1',
    quote: 'and their successfully processed attachments',
  },
  {
    id: 'spec-2.1-api-integration-id',
    section: '2.1',
    quote: '| apiIntegrationId | string | yes | Integration identifier. |',
  },
  { id: 'spec-2.1-message', section: '2.1', quote: '| message | string | yes | The user message. |' },
  {
    id: 'spec-2.1-agent',
    section: '2.1',
    quote: "| agent | string | no | Agency entry point. When omitted, the integration's default is used. |",
  },
  { id: 'spec-2.1-chat-id', section: '2.1', quote: '| chatId | string or null | no | Chat identifier. |' },
  {
    id: 'spec-2.1-alias-chat-id',
    section: '2.1',
    quote: '| aliasChatId | string or null | no | Alias chat identifier. |',
  },
  {
    id: 'spec-2.1-attachments',
    section: '2.1',
    quote: '| attachments | array of Attachment | no | At most 5 items. |',
  },
  {
    id: 'spec-2.1-sandbox-files',
    section: '2.1',
    quote: '| sandboxFiles | array of SandboxFile | no | At most 5 items. |',
  },
  {
    id: 'spec-2.1-user-context',
    section: '2.1',
    quote: '| user_context | object with arbitrary properties, or string, or null | no | Free-form context. |',
  },
  {
    id: 'spec-2.1-consumer-id',
    section: '2.1',
    quote: '| consumerId | string | conditional | Required when member allowances are enabled. |',
  },
  {
    id: 'spec-2.1-usage-request-id',
    section: '2.1',
    quote:
      '| usageRequestId | string | conditional | Unique id of this request. Required when allowances are enabled. It appears in chat status and usage records. Reuse the same value when recovering an interrupted request. |',
  },
  { id: 'spec-2.1-refreshes-shape', section: '2.1', quote: '| attachmentUrlRefreshes | object, string values | no |' },
  {
    id: 'spec-2.1-refreshes',
    section: '2.1',
    quote:
      'Keys: an expired earlier attachment URL without its query string. Values: a fresh HTTPS URL (URI format) with the same host and path. It must list all earlier conversation files that need refreshing. |',
  },
  { id: 'spec-2.2-discriminated', section: '2.2', quote: 'discriminated by `type`;' },
  { id: 'spec-2.2-no-additional', section: '2.2', quote: 'no additional properties allowed' },
  { id: 'spec-2.2-file-type', section: '2.2', quote: '| type | string, enum `input_file` | yes | Discriminator. |' },
  { id: 'spec-2.2-file-url-shape', section: '2.2', quote: '| file_url | string, URI | yes |' },
  {
    id: 'spec-2.2-file-url',
    section: '2.2',
    quote: 'Publicly accessible HTTPS URL of the file. |',
  },
  { id: 'spec-2.2-filename-shape', section: '2.2', quote: '| filename | string | no |' },
  { id: 'spec-2.2-filename', section: '2.2', quote: 'File name without a directory path. |' },
  { id: 'spec-2.2-image-type', section: '2.2', quote: '| type | string, enum `input_image` | yes | Discriminator. |' },
  { id: 'spec-2.2-image-url-shape', section: '2.2', quote: '| image_url | string, minimum length 1 | yes |' },
  { id: 'spec-2.2-image-url', section: '2.2', quote: 'Publicly accessible HTTPS image URL,' },
  { id: 'spec-2.2-image-inline', section: '2.2', quote: 'or an inline image data URL. |' },
  { id: 'spec-2.2-detail-shape', section: '2.2', quote: '| detail | string, enum `auto`, `low`, `high` | no |' },
  { id: 'spec-2.2-detail-default', section: '2.2', quote: 'Default `auto`. |' },
  { id: 'spec-2.3-name-shape', section: '2.3', quote: '| name | string | yes |' },
  {
    id: 'spec-2.3-name',
    section: '2.3',
    quote: 'Uploaded filename. Must equal the final path segment of `path` and contain no control characters. |',
  },
  { id: 'spec-2.3-path-shape', section: '2.3', quote: '| path | string | yes |' },
  {
    id: 'spec-2.3-path',
    section: '2.3',
    quote: 'Canonical path under `/app/mnt/`, as returned in `resource` by the upload-signing operation. |',
  },
  {
    id: 'spec-2.3-sandbox-tools',
    section: '2.3',
    quote: 'The agent can read these paths with sandbox tools.',
  },
  {
    id: 'spec-2.3-images',
    section: '2.3',
    quote: 'Images that the model must see are also sent in `attachments`.',
  },
  { id: 'spec-2.4-error', section: '2.4', quote: '| error | string | yes | Error message. |' },
  {
    id: 'spec-2.4-code',
    section: '2.4',
    quote:
      '| code | string or null | no | Machine-readable code. The one code given is `consumer_allowance_exhausted`. |',
  },
  {
    id: 'spec-3-active-409',
    section: '3',
    quote:
      'A previous run may still be active. A new completion for that situation is refused with status 409 (see section 7).',
  },
  { id: 'spec-3-failed-stays', section: '3', quote: 'A failed response stays in chat history.' },
  { id: 'spec-4-json', section: '4', quote: 'All payloads are JSON unless stated otherwise.' },
  {
    id: 'spec-4-authorization',
    section: '4',
    quote: 'Every endpoint requires the `Authorization` header (section 5).',
  },
  { id: 'spec-4.1-path', section: '4.1', quote: 'Method and path: `POST /get_completion_v2`' },
  { id: 'spec-4.1-operation-id', section: '4.1', quote: 'Operation id: `getCompletionV2`' },
  {
    id: 'spec-4.1-servers',
    section: '4.1',
    quote: 'Servers: production {base_url}. The operation also lists {staging_url} as the staging API v2 server.',
  },
  {
    id: 'spec-4.1-headers',
    section: '4.1',
    quote: 'Request headers: `Authorization: Bearer <ACCESS_TOKEN>`, `Content-Type: application/json`.',
  },
  { id: 'spec-4.1-body', section: '4.1', quote: 'Request body: the completion request (section 2.1).' },
  {
    id: 'spec-4.1-event-stream',
    section: '4.1',
    quote: 'Success response, status 200, one of: - `text/event-stream`: server-sent events (default).',
  },
  {
    id: 'spec-4.1-text-plain',
    section: '4.1',
    quote: '`text/plain`: plain text, when Text Only Mode is enabled for the integration.',
  },
  {
    id: 'spec-4.1-error-responses',
    section: '4.1',
    quote:
      'Error responses: statuses 400, 401, 403, 404, 409, 429, each with an `application/json` body of shape `ApiErrorResponse` and the header `X-Agent-Run-Admitted` (section 7).',
  },
  {
    id: 'spec-4.1-rule-1',
    section: '4.1',
    quote:
      '1. When member allowances are enabled, a request without `consumerId` or without `usageRequestId` is refused (status 400, missing allowance attribution).',
  },
  {
    id: 'spec-4.1-rule-2',
    section: '4.1',
    quote: '2. The member must be registered before a completion is started. Otherwise status 404.',
  },
  { id: 'spec-4.1-rule-3', section: '4.1', quote: '3. Every request must use the API key of the integration owner.' },
  {
    id: 'spec-4.1-rule-4',
    section: '4.1',
    quote:
      '4. If the connection is interrupted and the response carries no `X-Agent-Run-Admitted` header, the caller checks the chat status using the same `usageRequestId` before retrying.',
  },
  {
    id: 'spec-4.1-rule-5',
    section: '4.1',
    quote: "5. To retry after a failed response, the caller attaches the failed message's attachments again.",
  },
  { id: 'spec-4.2-path', section: '4.2', quote: 'Method and path: `POST /create_agency_upload`' },
  {
    id: 'spec-4.2-purpose',
    section: '4.2',
    quote:
      "Purpose: signs a form for uploading a file into the persistent agency storage of an API integration. The caller's server calls it after checking which app member owns the file.",
  },
  {
    id: 'spec-4.2-headers',
    section: '4.2',
    quote: 'Request headers: `Authorization: Bearer <ACCESS_TOKEN>`, `Content-Type: application/json`.',
  },
  {
    id: 'spec-4.2-api-integration-id',
    section: '4.2',
    quote: '| apiIntegrationId | string | Integration identifier. |',
  },
  {
    id: 'spec-4.2-folder',
    section: '4.2',
    quote:
      "| folder | string | Canonical folder below `/app/mnt/`, chosen by the caller's server for the app member. |",
  },
  {
    id: 'spec-4.2-filename',
    section: '4.2',
    quote: '| filename | string | Non-blank; no directory separators; no control characters. |',
  },
  {
    id: 'spec-4.2-content-type',
    section: '4.2',
    quote: '| contentType | string | Media type of the file (the request example uses an image type). |',
  },
  {
    id: 'spec-4.2-size-bytes',
    section: '4.2',
    quote: '| sizeBytes | integer | Number of file bytes to upload. Range 1 to 20971520 inclusive. |',
  },
  {
    id: 'spec-4.2-resource',
    section: '4.2',
    quote:
      '| resource | string | The canonical path to pass as `path` in a `sandboxFiles` item of a completion request. |',
  },
  {
    id: 'spec-4.2-upload-url',
    section: '4.2',
    quote: '| uploadUrl | string | Address to which the file is posted. |',
  },
  {
    id: 'spec-4.2-upload-fields',
    section: '4.2',
    quote: '| uploadFields | object | Form fields to send with the upload. |',
  },
  { id: 'spec-4.2-step-1', section: '4.2', quote: '1. Send `POST` with `multipart/form-data`.' },
  {
    id: 'spec-4.2-step-2',
    section: '4.2',
    quote: '2. Put every entry of `uploadFields` into the form first, in order.',
  },
  { id: 'spec-4.2-step-3', section: '4.2', quote: '3. Put the `file` field last.' },
  {
    id: 'spec-4.2-step-4',
    section: '4.2',
    quote:
      '4. The signed form is valid for 15 minutes and is limited in size. The file may not exceed 20 MiB (20971520 bytes).',
  },
  { id: 'spec-5-scheme', section: '5', quote: '| Scheme | HTTP bearer |' },
  { id: 'spec-5-header', section: '5', quote: '| Header | `Authorization: Bearer <ACCESS_TOKEN>` |' },
  {
    id: 'spec-5-token-format',
    section: '5',
    quote: '| Token format | JWT-style bearer (declared bearer format `JWT`) |',
  },
  {
    id: 'spec-5-where',
    section: '5',
    quote: "| Where to get one | A platform API key is found or created in the user's profile menu under API Keys. |",
  },
  {
    id: 'spec-5-scope',
    section: '5',
    quote: '| Scope | Applied to the whole API. Each request must use the API key of the integration owner. |',
  },
  { id: 'spec-5-401', section: '5', quote: 'A missing or invalid platform API key gives status 401.' },
  { id: 'spec-5-403', section: '5', quote: 'A key that does not own the named integration gives status 403.' },
  {
    id: 'spec-6-event-stream',
    section: '6',
    quote: 'The completion response is a server-sent-event stream by default,',
  },
  {
    id: 'spec-6-text-only',
    section: '6',
    quote: 'or plain text when Text Only Mode is enabled for the integration.',
  },
  {
    id: 'spec-7-error-bodies',
    section: '7',
    quote: 'All error bodies are `ApiErrorResponse` (`error` string, optional `code`).',
  },
  {
    id: 'spec-7-400',
    section: '7',
    quote: '| 400 | Invalid request, or missing allowance attribution. | ApiErrorResponse | `false` |',
  },
  {
    id: 'spec-7-401',
    section: '7',
    quote: '| 401 | Missing or invalid platform API key. | ApiErrorResponse | `false` |',
  },
  {
    id: 'spec-7-403',
    section: '7',
    quote: '| 403 | The API key does not own this integration. | ApiErrorResponse | `false` |',
  },
  {
    id: 'spec-7-404',
    section: '7',
    quote:
      '| 404 | Integration or member not found. The member is registered before a completion is started. | ApiErrorResponse | `false` |',
  },
  {
    id: 'spec-7-409',
    section: '7',
    quote:
      '| 409 | The previous run is still active. The caller waits for it or cancels that exact run before starting another. | ApiErrorResponse | `false` |',
  },
  {
    id: 'spec-7-429',
    section: '7',
    quote: '| 429 | The consumer is inactive, or has used up the current allowance. | ApiErrorResponse | `false` |',
  },
  {
    id: 'spec-7-rule-1',
    section: '7',
    quote: '1. The header `X-Agent-Run-Admitted` with value `false` means that no run was reserved.',
  },
  { id: 'spec-7-rule-2', section: '7', quote: '2. An absent header does not prove that the request was rejected.' },
  {
    id: 'spec-7-rule-2-chat-status',
    section: '7',
    quote:
      'After an interruption with no header, the caller checks the chat status with the same `usageRequestId` before retrying.',
  },
  {
    id: 'spec-7-rule-3',
    section: '7',
    quote: '3. The one `code` value given is `consumer_allowance_exhausted`, tied to the allowance case.',
  },
  { id: 'spec-7-rule-4', section: '7', quote: 'A failed response stays in chat history.' },
  { id: 'spec-8-attachments', section: '8', quote: '| Attachments per completion | at most 5 | `attachments` |' },
  { id: 'spec-8-sandbox-files', section: '8', quote: '| Sandbox files per completion | at most 5 | `sandboxFiles` |' },
  {
    id: 'spec-8-upload-size',
    section: '8',
    quote:
      '| Upload size | 1 to 20971520 bytes (20 MiB) | `sizeBytes` of the upload-signing request and the uploaded file |',
  },
  {
    id: 'spec-8-form-lifetime',
    section: '8',
    quote: '| Lifetime of a signed upload form | 15 minutes | `POST /create_agency_upload` |',
  },
  {
    id: 'spec-8-allowance',
    section: '8',
    quote:
      '| Allowance | When enabled, a running response may end above the limit; the next request is refused with 429. | Completion |',
  },
  {
    id: 'spec-9-path-marker',
    section: '9',
    quote:
      'The completion path carries the version marker `v2` (`/get_completion_v2`), as does the operation id `getCompletionV2`.',
  },
  { id: 'spec-9-version', section: '9', quote: 'The interface description is at version 1.0.0 (OpenAPI 3.0.3).' },
] as const;
