import type { TestProof } from './support/test-proof.ts';

/** The proofs that are test files at full scale. */
export const TEST_PROOFS: Readonly<Record<string, TestProof>> = {
  cancel: {
    files: ['test/cancel.test.ts'],
    test: 'answers a cancel after the provider has seen its connection closed',
    minutes: 0.5,
    faults: {
      'deaf-model': /^round 1: provider sees its connection closed before the cancel is answered: expected within/m,
    },
  },
  ask: {
    files: ['test/ask.full.test.ts'],
    test: 'an approved call is made once, wherever servers and processes are killed',
    minutes: 6,
    faults: {
      'run-before-asking': /^executions before an answer: expected \[0\], found \[1\]\.$/m,
      'answer-twice': /^refusal: expected "question_not_pending", found "admitted"\.$/m,
    },
  },
  tokens: {
    files: ['test/tokens.full.test.ts'],
    test: 'a client token reaches what its permissions name, and nothing else',
    minutes: 2,
    faults: {
      'token-is-key': /^embedded: own member: \w+: expected \[403,"token_forbidden"\], found .+\.$/m,
      'any-member': /^embedded: own member: listChats: planted words: expected 0, found \d+\.$/m,
    },
    figures: () => ({ contexts: 0 }),
  },
  'sign-in': {
    files: ['test/sign-in.test.ts', 'test/sign-in-nodes.test.ts'],
    test: 'no operation accepts the cookie, as cookie or as bearer token',
    minutes: 2,
    faults: { 'cookie-is-key': /^\w+ with the cookie: status: expected 401, found \d+\.$/m },
    figures: () => ({ leaks: 0 }),
  },
  'member-files': {
    files: ['test/member-files.full.test.ts'],
    test: 'no way leads to the files of another member or chat',
    minutes: 1.5,
    faults: {
      'no-file-access': /^sqlite: chat: planted words seen by read \(the exact path\): expected 0, found \d+\.$/m,
    },
    figures: (scale) => ({ ways: scale(215, 430), seen: 0, valid: scale(40, 80) }),
  },
  paths: {
    files: ['test/paths.full.test.ts'],
    test: 'bad paths are refused everywhere; good ones come back byte for byte',
    minutes: 0.3,
    faults: {
      'no-folding': /^status of path-098 .*: expected 400, found 200/m,
      'forget-forms': /^status of the second of two \(a file and a folder.*: expected 409, found 200/m,
    },
    figures: () => ({ items: 108, reject: 73, accept: 10, safe: 23, either: 2, attachments: 45, pairs: 6 }),
  },
  ssrf: {
    files: ['test/ssrf.test.ts'],
    test: 'no URL reaches a private address',
    minutes: 0.1,
    faults: {
      'first-address': /^outcome of ssrf-228 .*: expected refused or unresolved, found https:/m,
      'unchecked-redirects': /^outcome of ssrf-242 .*: expected refused, found https:/m,
      'dial-by-name': /^dials for a second resolution, .*: expected \["93\.184\.216\.34"\], found \["127\.0\.0\.1"\]/m,
      'mended-text': /^text of ssrf-030 .*: expected true, found false/m,
      'own-interfaces':
        /^outcome of an address of this machine, https:\/\/own-0\.test\/a: expected refused, found https:/m,
      'real-socket': /^real sockets and questions to name servers: expected 0, found [1-9]/m,
    },
    figures: () => ({ items: 174, refused: 144, fetched: 8, failed: 5, refreshes: 17, dials: 20 }),
  },
  'post-policy': {
    files: ['test/post-policy.full.test.ts'],
    test: 'the upload address accepts and refuses what S3 does',
    minutes: 0.5,
    faults: {
      'take-extra-fields': /^aws\.uncovered_field: status: expected 403, found 204/m,
      'forget-difference': /^cases that only the gateway .*: expected \[\], found \["ceph\.\S+"\]\.$/m,
      'invent-difference': /^cases that are listed .*: expected \[\], found \["ceph\.\S+"\]\.$/m,
    },
  },
  fallbacks: {
    files: ['test/fallbacks.full.test.ts'],
    test: 'a fallback answers once, and both models are charged as reported',
    minutes: 0.5,
    faults: {
      'hold-back': /^responses closes the connection after a text: calls of the second model: expected 0, found 1\.$/m,
      'free-failures':
        /^responses is silent after its head: tokens of the first model: expected at least 1, found 0\.$/m,
    },
    figures: () => ({ unavailable: 52, said: 20 }),
  },
  thinking: {
    files: ['test/thinking.full.test.ts'],
    test: 'Anthropic refuses no request of runs with signed thinking',
    minutes: 1,
    faults: {
      'reorder-blocks': /^ten steps of claude-sonnet-5: refusals: expected \[\], found \["signed-thinking: /m,
      'blocks-of-another-model': /^tire, and go on with newer: refusals: expected \[\], found \["signed-thinking: /m,
    },
    figures: () => ({ rules: 21, refusals: 0 }),
  },
  adapters: {
    files: ['test/adapters.full.test.ts'],
    test: 'our adapters read what the official clients read',
    minutes: 1.5,
    faults: {
      'drop-last-event': /^responses, plain by LF: failed: expected false, found true\.$/m,
      'drop-signature': /^messages, thinking, then text by LF: thinking: expected \[\[".+\]\], found \[\]\.$/m,
    },
    figures: () => ({ responses_reasoning_asked: 4, chat_reasoning_asked: 4, ai_sdk_alike: 59, ai_sdk_differ: 9 }),
  },
  documents: {
    files: ['test/documents.full.test.ts'],
    test: 'file tools read the text of attachments, also of hostile documents',
    minutes: 4,
    faults: {
      'lose-stored-line': /^\S+ in ranges by line: expected /m,
      'convert-here': /^tokens beside slow\.pdf: expected at least 60, found \d+\.$/m,
    },
    figures: (scale) => ({ texts: scale(5, 14), refused: 8, hostile: scale(4, 12) }),
  },
  agencies: {
    files: ['test/agencies.full.test.ts'],
    test: 'all forms of an agency ask the same; broken ones are reported',
    minutes: 2,
    faults: { 'wrong-line': /^a field that is almost right: faults: expected .*"line":2,.*, found .*"line":1,/m },
  },
  portable: {
    files: ['test/portable.full.test.ts'],
    test: 'starters of other frameworks run with unchanged prompts',
    minutes: 1,
    faults: { 'drop-flow': /^agency-swarm: prompt of `ExampleAgent2`: expected / },
    figures: () => ({ starters: 5, flows: 14, tools: 3 }),
  },
  mcp: {
    files: ['test/mcp.full.test.ts'],
    test: 'MCP servers that fail, hang or end disturb no run',
    minutes: 1.5,
    measuresTime: true,
    faults: {
      'wait-for-server': /^absent: first model call of a run: expected within 8000 ms, found later\.$/m,
      'inherit-environment': /^planted secrets in get-env: expected 0, found [1-5]\.$/m,
    },
    figures: () => ({ runs: 22, calls: 32, tools: 5013 }),
  },
  doctor: {
    files: ['test/doctor.full.test.ts'],
    test: '`doctor` names each problem of an installation',
    minutes: 1,
    faults: { 'ignore-proxy': /: checks with a finding: expected \["proxy"\], found \[\]/m },
    figures: () => ({ problems: 6, named: 6, healthy: 1 }),
  },
  'bad-models': {
    files: ['test/bad-models.full.test.ts'],
    test: 'a bad provider ends the run with a sentence that helps',
    minutes: 1.5,
    faults: {
      'endless-patience':
        /^responses, a provider that hangs before its first byte: end of its stream: expected within/m,
    },
    figures: () => ({ bad_providers: 34, runs: 136 }),
  },
  structured: {
    files: ['test/structured.full.test.ts'],
    test: 'a structured answer is valid JSON, or the run fails',
    minutes: 0.3,
    faults: {
      'show-tries': /^responses, wrong once: wrong tries that a reader sees: expected \[\], found \["is one"/m,
    },
    figures: () => ({ cases: 38 }),
  },
  'bad-input': {
    files: ['test/bad-input.full.test.ts'],
    test: 'bad input is refused by name, starts no run and leaves nothing',
    minutes: 1.7,
    faults: { 'any-depth': /^refusals: status of POST \/get_completion_v2 .*: expected 400, found 200/m },
  },
  heal: {
    files: ['test/heal.full.test.ts'],
    test: 'every provider accepts the next prompt of a chat that was cut',
    minutes: 2,
    faults: {
      'open-calls':
        /^cancel at event 21: refusals .*"responses":".*No tool output found for function call cancel-21-a, cancel-21-b.*"messages":/m,
    },
    figures: (scale) => ({ events: 50, cancelled: scale(9, 50), failed: scale(9, 50), killed: scale(4, 50) }),
  },
  refresh: {
    files: ['test/attachment-refreshes.test.ts', 'test/attachment-copies.test.ts'],
    test: /must be refreshed, then is used|needs no refresh|same host and path|have a copy each/,
    minutes: 0.3,
    faults: {
      'fetch-again': /^a kept copy needs no refresh, and a refresh is accepted:\nthe copy is sent/m,
      'forget-refreshes': /^Error: The run ended before its model was asked[\s\S]*its server answered 403/m,
      'share-copies': /^two integrations that attach the same bytes have a copy each:\n/m,
      'take-any-key':
        /^a refresh names an earlier attachment with the same host and path:\nThe request was not refused/m,
    },
  },
  attachments: {
    files: ['test/attachments.full.test.ts'],
    test: 'attachments reach the model, or the run fails free of charge',
    minutes: 0.5,
    faults: {
      'skip-unreadable': /^chat, \/gone\.pdf: what the provider was asked: expected null, found /m,
      'leak-query': /^chat, \/gone\.pdf: stream: expected no query, found one\.$/m,
      'convert-here': /^tokens beside the conversion: expected at least 20, found \d+\.$/m,
    },
    figures: (scale) => ({ kinds: 19, sent: scale(27, 37), refused: scale(29, 49) }),
  },
  'text-mode': {
    files: ['test/text-mode.full.test.ts'],
    test: 'Text Only Mode ends normally only if the run completed',
    minutes: 1.5,
    faults: { 'hide-failures': /^failed after 0 words: normal ends: expected 0, found 1\.$/m },
  },
};
