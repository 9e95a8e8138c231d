interface RunErrorProps {
  readonly error: { readonly code: string; readonly message: string };
}

/** What a person can do after a run has failed. */
const ADVICE: Readonly<Record<string, string>> = {
  model_error: 'Check the key and the state of the model provider, then send the message again.',
  model_timeout: 'The model was silent for too long. Send the message again, or choose another model.',
  run_timeout: 'The run took too long. Raise the limit of the integration, or ask for less.',
  attachment_unavailable: 'The server could not fetch an attachment. Send the message with a fresh address.',
  step_limit: 'The agent used all steps of a run. Raise the limit of the agency, or ask for less.',
  run_interrupted: 'The server stopped and could not continue the run. Nothing was charged; send the message again.',
  internal_error: 'This is a fault of the server. Its log has the cause. Nothing was charged.',
  output_invalid: 'The answer did not fit the output schema of the agent. Try again, or make the schema simpler.',
};

/** Why a run or a step failed, as the API reports it, and what to do. */
export function RunError({ error: { code, message } }: RunErrorProps) {
  const advice = ADVICE[code];
  return (
    <div className="notice notice-bad">
      <strong className="plain-text">{message}</strong>
      {advice !== undefined && <p>{advice}</p>}
      <p className="small muted">
        <code>{code}</code>
      </p>
    </div>
  );
}
