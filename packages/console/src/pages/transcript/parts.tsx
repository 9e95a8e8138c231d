import type { Message, Question } from '@runwire/client';
import { Link } from '@tanstack/react-router';
import { createContext, type ReactNode, useContext, useState } from 'react';
import { formatBytes } from '../../lib/format.ts';
import { shorten } from '../../lib/shorten.ts';
import { Status } from '../../ui/feedback.tsx';
import { JsonView } from '../../ui/json-view.tsx';
import { LongText } from '../../ui/long-text.tsx';
import { MarkdownBlocks } from '../../ui/markdown.tsx';
import { FileLink } from '../runs/file-link.tsx';
import { useChanges } from './changes.ts';
import type { CallPart, FilePart, Part, PartList, TextPart } from './run-parts.ts';
import { ToolImages } from './tool-images.tsx';
import './transcript.css';

/** The run whose parts are shown. */
interface PartsRun {
  readonly integration: string;
  readonly runId: string | null;
  readonly isActive: boolean;
  /** What is stored of its calls; empty while the page reads it live. */
  readonly calls: Message['calls'];
  /** Its open questions. */
  readonly pending: readonly Question[];
}

export const PartsRunContext = createContext<PartsRun | null>(null);

function usePartsRun(): PartsRun {
  const run = useContext(PartsRunContext);
  if (run === null) throw new Error('The parts have no run.');
  return run;
}

/** What an agent did, in order. Each part renders itself again when it changes; the list does so when one is added. */
export function Parts({ list }: { readonly list: PartList }) {
  useChanges(list.changes);
  return list.parts.map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: parts are only added at the end.
    <PartView key={index} part={part} />
  ));
}

function PartView({ part }: { readonly part: Part }) {
  switch (part.kind) {
    case 'text':
      return <Text part={part} />;
    case 'reasoning':
      return (
        <Folded title="Reasoning">
          <Text part={part} />
        </Folded>
      );
    case 'call':
      return part.tool === 'send_message' ? <Delegation part={part} /> : <Call part={part} />;
    case 'handoff':
      return (
        <>
          <p className="part-line">
            <bdi>{part.from}</bdi> handed over to <bdi>{part.to}</bdi>.
          </p>
          <h3 className="answer-title">
            <bdi>{part.to}</bdi>
          </h3>
        </>
      );
    case 'file':
      return <ChangedFile file={part.file} />;
    case 'note':
      return <p className="part-line">{part.text}</p>;
  }
}

function ChangedFile({ file: { change, path, size_bytes: size } }: Omit<FilePart, 'kind'>) {
  const { integration } = usePartsRun();
  return (
    <p className="part-line">
      File {change}:{' '}
      <span className="part-path">
        {change === 'deleted' ? <bdi>{path}</bdi> : <FileLink integration={integration} path={path} />}
      </span>
      {change !== 'deleted' && ` (${formatBytes(size)})`}
    </p>
  );
}

function Text({ part }: { readonly part: TextPart }) {
  useChanges(part.changes);
  return <MarkdownBlocks splitter={part.splitter} length={part.splitter.length} />;
}

interface FoldedProps {
  readonly title: ReactNode;
  readonly state?: ReactNode;
  readonly isFailed?: boolean;
  readonly children: ReactNode;
}

/** Content that is in the document only while it is open. */
function Folded({ title, state, isFailed = false, children }: FoldedProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details
      className={isFailed ? 'part part-failed' : 'part'}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>
        <span className="part-title">{title}</span>
        {state}
      </summary>
      {isOpen && <div className="part-body">{children}</div>}
    </details>
  );
}

/** The stored call, and what became of it. */
function useCallState({ callId, hasFailed, output, isAsking }: CallPart) {
  const { isActive, calls, pending } = usePartsRun();
  const stored = calls.find((call) => call.callId === callId);
  const isOpen = pending.some((question) => question.callId === callId);
  const known = output === null && !isAsking ? stored?.status : undefined;
  // Outputs of older servers do not tell that the call failed.
  if (hasFailed || stored?.status === 'failed') return { stored, status: 'failed' };
  if (output !== null) return { stored, status: 'completed' };
  if (isAsking || known === 'waiting') return { stored, status: isOpen ? 'waiting' : 'answered' };
  return { stored, status: known ?? (isActive ? 'running' : 'cancelled') };
}

interface FoldedCallProps {
  readonly part: CallPart;
  readonly title: ReactNode;
  readonly children: ReactNode;
}

/** A call with its state. What it got and returned is inside. */
function FoldedCall({ part, title, children }: FoldedCallProps) {
  const { integration, runId } = usePartsRun();
  const { stored, status } = useCallState(part);
  return (
    <Folded
      title={title}
      isFailed={status === 'failed'}
      state={
        <>
          {status === 'running' && part.progress !== null && (
            <span className="part-progress">{shorten(part.progress)}</span>
          )}
          <Status status={status} />
        </>
      }
    >
      {children}
      {stored !== undefined && runId !== null && (
        <Link
          className="small"
          to="/integrations/$integration/runs/$run"
          params={{ integration, run: runId }}
          search={{ step: String(stored.step) }}
        >
          Step {stored.step}
        </Link>
      )}
    </Folded>
  );
}

function Call({ part }: { readonly part: CallPart }) {
  useChanges(part.changes);
  const { integration, runId } = usePartsRun();
  const name = part.tool === '' ? 'the answered call' : shorten(part.tool, 100);
  const title =
    part.tool === '' ? (
      'Answered call'
    ) : (
      <>
        Tool <code>{name}</code>
      </>
    );
  return (
    <FoldedCall part={part} title={title}>
      {part.arguments !== '' && <LongCode code={part.arguments} label={`arguments of ${name}`} />}
      {part.output !== null && part.output !== '' && <LongCode code={part.output} label={`output of ${name}`} />}
      {runId !== null && <ToolImages integration={integration} runId={runId} attachments={part.attachments} />}
    </FoldedCall>
  );
}

export function LongCode({ code, label }: { readonly code: string; readonly label: string }) {
  return <LongText text={code}>{(shown) => <JsonView text={shown} label={label} isRepeated />}</LongText>;
}

interface DelegationArguments {
  readonly recipient_agent?: unknown;
  readonly message?: unknown;
}

/** One agent asks another. What the other one does is inside. */
function Delegation({ part }: { readonly part: CallPart }) {
  useChanges(part.changes);
  const { recipient_agent, message } = (parsed(part.arguments) ?? {}) as DelegationArguments;
  const title = (
    <>
      <bdi>{part.agent}</bdi> asks <bdi>{shorten(String(recipient_agent ?? 'another agent'), 100)}</bdi>
    </>
  );
  return (
    <FoldedCall part={part} title={title}>
      {typeof message === 'string' && (
        <LongText text={message}>{(shown) => <p className="part-quote">{shown}</p>}</LongText>
      )}
      <Parts list={part.children} />
    </FoldedCall>
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
