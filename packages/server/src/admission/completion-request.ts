import type { SandboxFile } from '@runwire/models';
import type { RequestAttachment } from '../attachments/request-attachment.ts';
import type { Audit } from '../audit/audit.ts';
import type { AdmissionRequest } from '../domain/admission/admission.ts';
import type { ImportedTurn } from '../domain/chat/imported-turn.ts';
import type { MountPath } from '../domain/file/mount-path.ts';
import type { ChatKey, IntegrationId, OwnerId, RunId } from '../domain/ids.ts';
import type { Answerer, Settlement } from '../domain/question/question.ts';
import type { Refusal } from '../domain/refusal.ts';
import type { RequestTrace } from '../domain/request-trace.ts';
import type { JournalledStep } from '../domain/run/step.ts';

/** A request whose body is checked and whose caller owns the integration. */
export interface CompletionRequest extends AdmissionRequest {
  /** The integration's owner. */
  readonly ownerId: OwnerId;
  readonly integrationId: IntegrationId;
  readonly trace: RequestTrace;
  readonly message: string;
  readonly userContext: unknown;
  readonly ignoredFields: readonly string[];
  readonly attachments: readonly RequestAttachment[];
  readonly sandboxFiles: readonly { readonly file: SandboxFile; readonly below: MountPath }[];
  readonly history: readonly RequestTurn[];
  /** Who sent the answers. Null if the request has none. */
  readonly answeredBy: Answerer | null;
  /** Stores who answered. Absent if the request has no answers. */
  readonly audit?: Audit;
  /** The original run if this is a rerun, the start of an eval, or the refusal of either. Absent in other requests. */
  readonly rerun?: Rerun | EvalStart | Refusal;
  /** See `Meta.shown`. */
  readonly shown?: Readonly<Record<string, unknown>>;
}

interface AnyRerun {
  readonly agency: string;
  /** Null if the models are those of any run. */
  readonly model: string | null;
  /** What became of the questions that the original run settled. */
  readonly settlements: readonly Settlement[];
}

/** What admission needs of a run for an eval: a rerun without an original, in a new chat. */
export interface EvalStart extends AnyRerun {
  readonly from: null;
}

/** What admission needs of a run that is rerun. */
export interface Rerun extends AnyRerun {
  /** The chat of the original run, and the run. */
  readonly from: ChatKey;
  readonly runId: RunId;
  readonly afterStep: number;
  readonly hasAttachments: boolean;
  /** The original run's journal. */
  readonly journal: readonly JournalledStep[];
  /** The steps that are kept. */
  readonly steps: readonly JournalledStep[];
}

/** An earlier turn that the caller brings, with its attachments. */
export interface RequestTurn extends ImportedTurn {
  readonly attachments: readonly RequestAttachment[];
}
