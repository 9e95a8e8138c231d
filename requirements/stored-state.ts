/** Requirements about stored state, by the beginning of their ids. A gate test must show each of them on both stores. */
const STORED_STATE: readonly RegExp[] = [
  /^contract-1-log-days$/,
  /^contract-2-(key-not-stored|one-owner|revoc)/,
  /^contract-3-(runs|steps|events|cancel|member|chats|chat-|usage|integration|owners|api-keys)/,
  /^contract-4-(chat-|alias|replay|same-body|other-body|one-transaction|usage-request-id|refused-no-chat|member-checked)/,
  /^contract-5-(ids|meta-once|messages-durable|resumed|void)/,
  /^contract-6-/,
  /^contract-7-(fetched|refresh|failed|cancelled|drops|file-(quota|access|lists)|announce|member-(folder|quota))/,
  /^contract-9-/,
  /^contract-19-/,
  /^contract-21-/,
  /^contract-22-/,
  /^contract-23-(first-token|latency)/,
  /^contract-27-/,
  /^contract-30-(later|attachments|read|deleted|forks|reruns|failed)/,
  /^contract-31-/,
  /^contract-26-(questions|answer|waiting|search)/,
  /^agents-14-/,
  /^compatible-19-/,
  /^agents-15-(published|all-or-nothing|conflicts|quota|file-changed)$/,
  /^clients-17-(set-up|link|password|session|sign-out|stored|deleted-owner|(email|address)-limit)$/,
  /^spec-1-(history|failed|other|refused|end|next|metered)/,
  /^spec-3-/,
  /^spec-7-rule-2/,
];

/** Exceptions, each with the reason why one store is enough. */
const ONE_STORE: Readonly<Record<string, string>> = {
  'contract-2-revocation-nodes': 'several nodes exist on PostgreSQL only',
  'contract-3-events-any-node': 'several nodes exist on PostgreSQL only',
  'contract-9-node': 'several nodes exist on PostgreSQL only',
  'contract-9-agency-flow-kinds': 'an agency is read from its files, not from the store',
  'contract-3-integration-text-only': 'changes the framing of a stream, not what is stored of it',
  'contract-4-same-body-attachments': 'decides what is compared, before the store is asked',
  'contract-6-cancelled-before-output': 'concerns the estimate, which is made before the end is stored',
  'contract-19-backups': 'the test itself copies from each store to the other',
  'contract-31-fields': 'an agency is read from its files, not from the store',
  'contract-31-outputs': 'decides by the prompt alone, before anything is stored',
  'contract-31-copies': 'the test itself copies from each store to the other',
  'contract-19-fork-token': 'concerns requests that are refused before the store is asked',
  'compatible-19-inline-budget': 'concerns bodies that are decoded before the store is asked',
  'contract-27-currency': 'concerns a setting, which is read before the store is asked',
  'contract-22-clock-changes': 'concerns the times of ticks, which are computed before the store is asked',
  'contract-22-earlier-nodes': 'several nodes exist on PostgreSQL only',
  'contract-22-once': 'several nodes exist on PostgreSQL only',
  'contract-22-restore': 'changes the rows while they are copied, between the stores',
  'contract-9-characters': 'concerns requests that are refused before the store is asked',
  'contract-9-new-messages-tools': 'concerns the shape of a frame',
  'contract-9-unknown-field': 'concerns requests that are refused before the store is asked',
};

export const needsBothStores = (id: string): boolean =>
  !Object.hasOwn(ONE_STORE, id) && STORED_STATE.some((pattern) => pattern.test(id));
