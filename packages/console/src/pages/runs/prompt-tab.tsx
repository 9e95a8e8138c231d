import type { Step, StepPrompt } from '@runwire/client';
import { useQuery } from '@tanstack/react-query';
import { formatJson, formatNumber } from '../../lib/format.ts';
import { shorten } from '../../lib/shorten.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Badge, Loading } from '../../ui/feedback.tsx';
import { JsonView } from '../../ui/json-view.tsx';
import { LongText } from '../../ui/long-text.tsx';
import { countCached } from './cached-part.ts';
import { promptQuery } from './run-queries.ts';

interface PromptTabProps {
  readonly integration: string;
  readonly runId: string;
  readonly step: Step;
}

/** What the model was sent in a step. */
export function PromptTab({ integration, runId, step }: PromptTabProps) {
  const { data, error, refetch } = useQuery(promptQuery(integration, runId, step.step));
  if (error !== null) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Loading what="the prompt" />;
  const { instructions, messages, tools, settings, exact } = data;
  const cached = countCached(data, step.usage);
  return (
    <div className="stack">
      <h2 className="visually-hidden">Prompt</h2>
      {!exact && (
        <p className="notice notice-warn">
          This prompt was rebuilt and can differ from what was sent: the agency was changed or uses code,
          `user_context`, MCP servers or tools of the request.
        </p>
      )}
      {step.usage !== null && step.usage.cached_tokens > 0 && (
        <p className="muted">
          {formatNumber(step.usage.cached_tokens)} of {formatNumber(step.usage.input_tokens)} input tokens came from the
          provider's cache. The parts that they probably cover are marked.
        </p>
      )}
      <section>
        <h3>Instructions</h3>
        {instructions === null ? (
          <p className="muted">A function of the agency made them, or they are not known.</p>
        ) : (
          <LongText text={instructions} maxShown={4000} />
        )}
      </section>
      <section className="stack-tight">
        <h3>Messages</h3>
        {messages.length === 0 && <p className="muted">They are not known.</p>}
        <ol className="prompt-items">
          {messages.map((message, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the messages of a prompt never change.
            <PromptItem key={index} item={message} isCached={index < cached} />
          ))}
        </ol>
      </section>
      {tools.length > 0 && (
        <section className="stack-tight">
          <h3>Tools</h3>
          {tools.map((tool) => (
            <Tool key={tool.name} tool={tool} />
          ))}
        </section>
      )}
      <section>
        <h3>Settings</h3>
        {Object.keys(settings).length === 0 ? (
          <p className="muted">The model's own.</p>
        ) : (
          <JsonView text={formatJson(settings)} label="settings" />
        )}
      </section>
    </div>
  );
}

function Tool({ tool: { name, description, inputSchema } }: { readonly tool: StepPrompt['tools'][number] }) {
  return (
    <details className="part">
      <summary>
        <code>
          <bdi>{shorten(name)}</bdi>
        </code>
      </summary>
      <div className="part-body stack-tight">
        <LongText text={description} />
        <JsonView text={formatJson(inputSchema)} label={`arguments of ${shorten(name)}`} isRepeated />
      </div>
    </details>
  );
}

interface Item {
  readonly type?: string;
  readonly role?: string;
  readonly name?: string;
  readonly content?: string | readonly { readonly text?: string }[];
  readonly arguments?: string;
  readonly output?: string;
  readonly attachments?: readonly { readonly kind: string; readonly name: string | null; readonly text?: string }[];
}

const TITLES: Readonly<Record<string, string>> = {
  user: 'User',
  assistant: 'Assistant',
  function_call: 'Call of',
  function_call_output: 'Output',
};

function PromptItem({ item, isCached }: { readonly item: object; readonly isCached: boolean }) {
  const { type = '', role = type, name, content, arguments: given, output, attachments = [] } = item as Item;
  const text = typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? '').join('');
  const title = TITLES[role] ?? role;
  const json = given ?? output;
  return (
    <li className={`prompt-item prompt-${role}`}>
      <p className="row small muted">
        <strong>{title}</strong>
        {name !== undefined && (
          <code>
            <bdi>{shorten(name)}</bdi>
          </code>
        )}
        {isCached && <Badge>cached</Badge>}
      </p>
      {json === undefined ? (
        <LongText text={text} maxShown={4000} />
      ) : (
        <JsonView text={json} label={title} isRepeated />
      )}
      {attachments.map((one, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the attachments of a prompt never change.
        <p className="small muted" key={index}>
          {one.kind}: <bdi>{shorten(one.name ?? 'without a name')}</bdi>
        </p>
      ))}
    </li>
  );
}
