import { publicApiUrl } from '../../app/addresses.ts';
import { CodeBlock } from '../../ui/code-block.tsx';
import { InfoDialog } from '../../ui/info-dialog.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { curlSnippet, pythonSnippet, type SampleRequest, typescriptSnippet } from '../integrations/snippets.ts';

interface CodeDialogProps {
  readonly integration: string;
  readonly request: SampleRequest;
  /** True if the message has images for the model, which are not part of the sample. */
  readonly hasImages: boolean;
  readonly onClose: () => void;
}

/** The request that the playground would send now, as a program sends it. */
export function CodeDialog({ integration, request, hasImages, onClose }: CodeDialogProps) {
  const input = { url: publicApiUrl, integration, request };
  const samples = [
    { language: 'bash', title: 'curl', code: curlSnippet(input) },
    { language: 'typescript', title: 'TypeScript', code: typescriptSnippet(input) },
    { language: 'python', title: 'Python', code: pythonSnippet(input) },
  ] as const;
  return (
    <InfoDialog title="Code of this request" isWide onClose={onClose}>
      <p className="muted">
        It needs an API key in <code>RUNWIRE_API_KEY</code>. The page of the integration, tab <em>Connect</em>, makes
        one.{hasImages && ' The images are left out: send them in `attachments`.'}
      </p>
      <Tabs
        label="Languages"
        tabs={samples.map(({ language, title, code }) => ({
          id: language,
          title,
          content: <CodeBlock code={code} language={language} label={`${title} code`} />,
        }))}
      />
    </InfoDialog>
  );
}
