import { CodeBlock } from '../../ui/code-block.tsx';

/** Shown while the server has only the demo agency. */
export function FirstAgencyHint() {
  return (
    <section className="card stack" aria-labelledby="first-agency">
      <div className="stack-tight">
        <h2 id="first-agency">Make an agency of your own</h2>
        <p className="muted">
          This server has only the demo agency. This command makes a project with an agency, its settings and a README
          that explains how to start it:
        </p>
      </div>
      <CodeBlock code="runwire init my-agents" language="bash" label="command that makes a project" />
      <p className="muted">
        To add one to this server instead, put a folder with an <code>agency.yaml</code> into its{' '}
        <code>RUNWIRE_AGENCIES_DIR</code>. The guide is <code>docs/first-agency.md</code>.
      </p>
    </section>
  );
}
