import { TextField } from '../../ui/form.tsx';

interface ModelFieldProps {
  readonly model?: string | null;
  /** Which agents use it, and what an empty field means. */
  readonly agents?: string;
  readonly empty?: string;
}

/** A field for `provider/model`. By default it is the model for agents that name none. */
export function ModelField({
  model = null,
  agents = 'agents that name no model',
  empty = 'the model of the agency or of the server',
}: ModelFieldProps) {
  return (
    <TextField
      label="Model"
      name="model"
      isCode
      maxLength={200}
      spellCheck={false}
      defaultValue={model ?? ''}
      hint={
        <>
          For {agents}, as <code>provider/model</code>. Empty: {empty}.
        </>
      }
    />
  );
}
