import { type ReactNode, useState } from 'react';
import { formatBytes } from '../../lib/format.ts';
import { shorten } from '../../lib/shorten.ts';
import { Badge } from '../../ui/feedback.tsx';
import { JsonView } from '../../ui/json-view.tsx';
import { LongText } from '../../ui/long-text.tsx';
import { MarkdownBlocks } from '../../ui/markdown.tsx';
import { useChanges } from './changes.ts';
import type { CallPart, Part, PartList, TextPart } from './run-parts.ts';
import './parts.css';

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
      return (
        <p className="part-line">
          File {part.file.change}: <bdi className="part-path">{part.file.path}</bdi>
          {part.file.change !== 'deleted' && ` (${formatBytes(part.file.size_bytes)})`}
        </p>
      );
    case 'note':
      return <p className="part-line">{part.text}</p>;
  }
}

function Text({ part }: { readonly part: TextPart }) {
  useChanges(part.changes);
  return <MarkdownBlocks splitter={part.splitter} length={part.splitter.length} />;
}

interface FoldedProps {
  readonly title: ReactNode;
  readonly state?: ReactNode;
  readonly children: ReactNode;
}

/** Content that is in the document only while it is open. */
function Folded({ title, state, children }: FoldedProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="part" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <span className="part-title">{title}</span>
        {state}
      </summary>
      {isOpen && <div className="part-body">{children}</div>}
    </details>
  );
}

function CallState({ part }: { readonly part: CallPart }) {
  if (part.hasFailed) return <Badge tone="bad">failed</Badge>;
  if (part.output !== null) return <Badge tone="good">done</Badge>;
  if (part.isAsking) return <Badge tone="warn">asked</Badge>;
  return (
    <>
      {part.progress !== null && <span className="part-progress">{shorten(part.progress)}</span>}
      <Badge tone="active">called</Badge>
    </>
  );
}

function Call({ part }: { readonly part: CallPart }) {
  useChanges(part.changes);
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
    <Folded title={title} state={<CallState part={part} />}>
      {part.arguments !== '' && <LongCode code={part.arguments} label={`arguments of ${name}`} />}
      {part.output !== null && <LongCode code={part.output} label={`output of ${name}`} />}
    </Folded>
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
    <Folded title={title} state={<CallState part={part} />}>
      {typeof message === 'string' && (
        <LongText text={message}>{(shown) => <p className="part-quote">{shown}</p>}</LongText>
      )}
      <Parts list={part.children} />
    </Folded>
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
