/** Grey lines in the place of what is being loaded. They appear after a moment, so that a fast answer does not flicker. */
export const Skeleton = () => (
  <div className="skeleton" aria-hidden="true">
    <span />
    <span />
    <span />
    <span />
  </div>
);
