/**
 * Points at which a test can stage a race or a crash: the composition root may pass a function that is called there. In
 * production there is none. The function is synchronous: it can end or block the process, but it cannot let other work
 * run first.
 */
export const TRANSACTIONS = [
  'admit',
  'attachment',
  'flush',
  'step',
  'end',
  'cancel',
  'takeover',
  'account',
  'sweep',
] as const;
/**
 * No state of a run depends on `lease`, with which nodes fence each other, on `webhook`, which claims deliveries and records their outcomes, on `files`, which publishes an upload or deletes
 * files, on `erasure`, which erases a person, and on `pending`, which records blobs before they are written. `publish` stores a step together with its file changes, which only runs with
 * a sandbox have. `schedule` claims schedules and records their ticks. `search` adds words
 * to the index.
 */
export type TransactionName =
  | (typeof TRANSACTIONS)[number]
  | 'schedule'
  | 'files'
  | 'pending'
  | 'publish'
  | 'erasure'
  | 'lease'
  | 'search'
  | 'webhook';

export type WaitPoint =
  | `${TransactionName}.${'before' | 'after'}-commit`
  | `${'header' | 'first-byte' | 'messages' | 'end-frame' | 'cancel-intent' | 'settle'}.${'before' | 'after'}`
  | PublishPoint
  | ErasurePoint
  | `schedule.${'before' | 'after'}-commit`
  | DeliveryPoint;

export const WAIT_POINTS: readonly WaitPoint[] = [
  ...TRANSACTIONS.flatMap((name): WaitPoint[] => [`${name}.before-commit`, `${name}.after-commit`]),
  ...(['header', 'first-byte', 'messages', 'end-frame', 'cancel-intent', 'settle'] as const).flatMap(
    (name): WaitPoint[] => [`${name}.before`, `${name}.after`],
  ),
];

/** An uploaded file's steps on its way to the disk. No run depends on them. */
export type UploadPoint =
  `${'upload-bytes' | 'upload-sync' | 'upload-rename' | 'upload-folder-sync' | 'upload-answer'}.${'before' | 'after'}`;

export const UPLOAD_POINTS: readonly UploadPoint[] = (
  ['upload-bytes', 'upload-sync', 'upload-rename', 'upload-folder-sync', 'upload-answer'] as const
).flatMap((name): UploadPoint[] => [`${name}.before`, `${name}.after`]);

/** The commit that publishes an upload, between the syncs and the answer. */
export const FILE_POINTS: readonly WaitPoint[] = ['files.before-commit', 'files.after-commit'];

/** A command's steps from its staged files to the commit that makes its changes visible. */
export type PublishPoint =
  | `publish.${'before' | 'after'}-commit`
  | `command-${'stage' | 'run' | 'bytes'}.${'before' | 'after'}`;

export const PUBLISH_POINTS: readonly PublishPoint[] = [
  'command-stage.before',
  'command-stage.after',
  'command-run.before',
  'command-run.after',
  'command-bytes.before',
  'command-bytes.after',
  'publish.before-commit',
  'publish.after-commit',
];

/** An erasure's steps. No run depends on them. */
export type ErasurePoint =
  | `erasure.${'before' | 'after'}-commit`
  | `erasure-${'bytes' | 'scrub'}.${'before' | 'after'}`;

export const ERASURE_POINTS: readonly ErasurePoint[] = [
  'erasure.before-commit',
  'erasure.after-commit',
  'erasure-bytes.before',
  'erasure-bytes.after',
  'erasure-scrub.before',
  'erasure-scrub.after',
];

/** A delivery's steps from its claim to its stored outcome. No run depends on them. */
export type DeliveryPoint = `webhook.${'before' | 'after'}-commit` | `webhook-post.${'before' | 'after'}`;

export const DELIVERY_POINTS: readonly DeliveryPoint[] = [
  'webhook.before-commit',
  'webhook.after-commit',
  'webhook-post.before',
  'webhook-post.after',
];

export type WaitAt = (point: WaitPoint | UploadPoint) => void;
