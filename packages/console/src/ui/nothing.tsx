/** Stands in for a value that does not exist. */
export function Nothing() {
  return (
    <>
      <span className="muted" aria-hidden="true">
        –
      </span>
      <span className="visually-hidden">none</span>
    </>
  );
}
