/** Sections 2 to 4: what the contract says about HTTP itself: paths, methods, queries, cursors, media types, keys. */
export const contractHttp = [
  {
    id: 'contract-2-key-sentences',
    section: '2',
    quote:
      'The sentence says whether the key is missing, malformed, expired or revoked; a wrong signature is only "not valid".',
  },
  {
    id: 'contract-2-revoked-streams',
    section: '2',
    quote: 'Streams that were opened with a revoked key are closed within 5 s; the run continues.',
  },
  { id: 'contract-2-typ-jwt', section: '2', quote: 'Only tokens whose header says `typ: JWT` are keys.' },
  {
    id: 'contract-3-encoded-slash',
    section: '3',
    quote:
      'An encoded slash in a path belongs to its segment (`PUT …/chats/a%2Fb` is 405, as for any other chat id); the absolute form of a request target behaves like the path alone.',
  },
  {
    id: 'contract-3-head',
    section: '3',
    quote: 'HEAD works at `/healthz`, `/readyz`, `/openapi.json`, `/docs` and `files/content`; elsewhere it is 405.',
  },
  {
    id: 'contract-3-request-id-of-caller',
    section: '3',
    quote: "The server uses the caller's `X-Request-Id` if it is 1–128 visible ASCII characters.",
  },
  { id: 'contract-3-traceparent', section: '3', quote: 'Log lines of a request carry its `traceparent`.' },
  { id: 'contract-3-limit-digits', section: '3', quote: '`limit` is decimal digits.' },
  {
    id: 'contract-3-bound-cursor',
    section: '3',
    quote: 'A cursor is bound to its list and integration; any other is 400 `invalid_cursor`.',
  },
  {
    id: 'contract-3-empty-cursor',
    section: '3',
    quote:
      'An empty `after=` or `Last-Event-ID` counts as absent; a cursor of any size at or after the end of an ended run is 204.',
  },
  {
    id: 'contract-3-unknown-parameter',
    section: '3',
    quote:
      'An unknown query parameter is 400 `invalid_request`, and the error names it, on every operation below `/v2` (events, content and CSV too); so is a repeated one.',
  },
  {
    id: 'contract-3-chat-filters',
    section: '3',
    quote: '`GET …/chats` takes the filters `consumerId`, `status` and `updatedAfter`.',
  },
  {
    id: 'contract-3-chat-patch',
    section: '3',
    quote: '`PATCH …/chats/{chatId}` sets `{title?, metadata?}`',
  },
  {
    id: 'contract-3-member-adjustments',
    section: '3',
    quote:
      "`POST …/members/{consumerId}/adjustments`, `GET …/members/{consumerId}/adjustments` (new) | corrections of a member's usage (section 6)",
  },
  {
    id: 'contract-3-member-erasure',
    section: '3',
    quote:
      '`DELETE …/members/{consumerId}?erase=true` (202), `GET …/members/{consumerId}/erasure` (new) | erasure of a person (section 6)',
  },
  {
    id: 'contract-4-near-miss',
    section: '4',
    quote:
      'On `POST /get_completion_v2` an unknown field is 400 `invalid_request`, with a hint such as "did you mean `usageRequestId`?", at the top level, if its name is close to a known one: remove `_` and `-` and lower-case both names; they are equal, or one insertion, deletion, replacement or transposition apart. The other unknown fields are still ignored; `meta.ignored_fields` lists them in the order sent, the first 20, each cut to 64 characters (omitted if there are none).',
  },
  {
    id: 'contract-4-charset',
    section: '4',
    quote:
      'A `charset` other than UTF-8 in `Content-Type` is refused as a wrong media type. An empty body counts as no body, whatever its media type. In `POST …/chats` null equals absent.',
  },
] as const;
