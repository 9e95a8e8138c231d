import { TextField } from '../../ui/form.tsx';

/** The model for agents that name none. */
export function ModelField({ model = null }: { readonly model?: string | null }) {
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
          For agents that name no model, as <code>provider/model</code>. Empty: the model of the agency or of the
          server.
        </>
      }
    />
  );
}
